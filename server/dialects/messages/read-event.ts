/** Reads events of a messages stream, parsing as little as needed. */
import { asString, type JsonObject, member } from '../../lib/json.ts'

const DELTA_FIELDS = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['input_json_delta', 'partial_json'],
])

/** Returns the model's text in a `content_block_delta`; empty for signatures and citations. */
export function readDeltaText(event: JsonObject): string {
  const field = DELTA_FIELDS.get(asString(member(event.delta, 'type')) ?? '')
  return field === undefined ? '' : (asString(member(event.delta, field)) ?? '')
}
