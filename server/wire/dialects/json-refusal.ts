/**
 * Messages for JSON bodies refused before parsing: one sentence per reason, with the field and the
 * byte offset if known.
 */

export type JsonRefusalReason =
  | 'encoding'
  | 'syntax'
  | 'not_an_object'
  | 'too_deep'
  | 'too_many_values'
  | 'too_many_fields'
  | 'too_many_keys'
  | 'name_too_long'
  | 'duplicate_key'
  | 'number_out_of_range'

export interface JsonRefusal {
  readonly ok: false
  readonly reason: JsonRefusalReason
  /** The decoded top-level field with the problem, if there is one. */
  readonly field?: string
  /** Byte offset of the problem, if it has a single place. */
  readonly offset?: number
  /** Public text: goes to the caller. */
  readonly message: string
}

const SENTENCES: Readonly<Record<JsonRefusalReason, string>> = {
  encoding: 'request body is not valid UTF-8',
  syntax: 'request body is not valid JSON',
  not_an_object: 'request body must be a JSON object',
  too_deep: 'request body is nested too deeply',
  too_many_values: 'request body holds too many values',
  too_many_fields: 'request body has more than 1000 fields',
  too_many_keys: 'request body has more than 20000 different keys',
  name_too_long: 'request body has a name or a type of more than 8192 bytes',
  duplicate_key: 'request body names a field more than once',
  number_out_of_range: 'request body holds a number that is out of range',
}

/** A field name in a message is cut here: it is the caller's own text and may be megabytes. */
const FIELD_CHARACTERS_MAX = 64

/** Makes the refusal of a body; `offset` counts bytes. */
export function refuseJson(
  reason: JsonRefusalReason,
  offset?: number,
  field?: string,
): JsonRefusal {
  const places: string[] = []
  const name = field?.slice(0, FIELD_CHARACTERS_MAX).toWellFormed()
  if (name !== undefined) places.push(`field ${JSON.stringify(name)}`)
  if (offset !== undefined) places.push(`byte ${offset}`)
  return {
    ok: false,
    reason,
    field: name,
    offset,
    message: SENTENCES[reason] + (places.length > 0 ? ` (${places.join(', ')})` : ''),
  }
}
