/** The fields of an interpretation request with their defaults. */
import { foldLanguage } from '../../../base/lib/text/fold-language.ts'
import {
  completeLanguages,
  type Languages,
  SOURCE_LANGUAGES,
  TARGET_LANGUAGES,
} from './languages.ts'

export type Mode = 's2t' | 's2s'

export interface InterpretationOrder {
  readonly mode: Mode
  readonly languages: Languages
  /** Empty to clone the speaker's own. */
  readonly voice: string
}

/** Reads the fields of a form, which are texts; an empty one counts as absent. */
export function readInterpretationOrder(
  value: Readonly<Record<string, unknown>>,
): InterpretationOrder {
  return {
    mode: value.mode === 's2s' ? 's2s' : 's2t',
    languages: completeLanguages(
      languageOf(value.source_language, SOURCE_LANGUAGES),
      languageOf(value.target_language, TARGET_LANGUAGES),
    ),
    voice: textOf(value.voice).trim(),
  }
}

/** The endpoint refuses languages that are not known. */
function languageOf(value: unknown, known: readonly string[]): string {
  const tag = textOf(value)
  return foldLanguage(tag, known) ?? tag
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
