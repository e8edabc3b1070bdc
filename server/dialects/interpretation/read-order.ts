/** The fields of an interpretation request with their defaults. */
import { completeLanguages, type Languages } from './languages.ts'

export type Mode = 's2t' | 's2s'

export interface InterpretationOrder {
  readonly mode: Mode
  readonly languages: Languages
  /** Empty: the speaker's own is cloned. */
  readonly voice: string
}

/** A form's fields are texts; an empty one is as good as none. */
export function readOrder(value: Readonly<Record<string, unknown>>): InterpretationOrder {
  return {
    mode: value.mode === 's2s' ? 's2s' : 's2t',
    languages: completeLanguages(textOf(value.source_language), textOf(value.target_language)),
    voice: textOf(value.voice).trim(),
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
