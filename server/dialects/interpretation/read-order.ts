/** The fields of an interpretation request with their defaults. */
import { completeLanguages, type Languages } from './languages.ts'

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
    languages: completeLanguages(textOf(value.source_language), textOf(value.target_language)),
    voice: textOf(value.voice).trim(),
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
