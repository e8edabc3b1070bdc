/** Converts a whole response to the events of a Responses stream. */
import {
  asString,
  isObject,
  type JsonObject,
  tryParseJson,
  writeJson,
} from '../../../base/lib/json.ts'
import type { Relay } from '../relay.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import { encodeSseEvent } from '../sse.ts'
import { createUnfolder } from '../unfold-document.ts'
import { encodeFailedEvent } from './encode-failed.ts'
import { readResponseBody } from './read-response.ts'

type Event = JsonObject & { readonly type: string }

/** Returns a relay for a whole response. */
export function createResponsesUnfolder(): Relay {
  return createUnfolder((body) => {
    const document = tryParseJson(body)
    if (!isObject(document) || !Array.isArray(document.output)) {
      const error = readResponseBody(document).error ?? UPSTREAM_ERROR
      return encodeFailedEvent({ error, response: undefined, sequenceNumber: 0 })
    }
    const events = listResponseEvents(document)
    return events.map((event) => encodeSseEvent(event.type, writeJson(event))).join('')
  })
}

/** Returns the events of a whole response, numbered, from `created` to its end. */
export function listResponseEvents(response: JsonObject): Event[] {
  const { output, status } = response
  const items = Array.isArray(output) ? output.filter(isObject) : []
  const ending = status === 'incomplete' || status === 'failed' ? status : 'completed'
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const events: Event[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.flatMap((item, index) => [
      { type: 'response.output_item.added', output_index: index, item: emptyItem(item) },
      ...listItemEvents(item, { item_id: idOf(item), output_index: index }),
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: `response.${ending}`, response },
  ]
  return events.map((event, position) => ({ ...event, sequence_number: position }))
}

const ID_LENGTH_MAX = 256

/** The id that each event of the item repeats; a longer one is left out. */
function idOf({ id }: JsonObject): unknown {
  return typeof id === 'string' && id.length > ID_LENGTH_MAX ? undefined : id
}

/** Clients append to these fields, so that they begin empty. */
function emptyItem(item: JsonObject): JsonObject {
  switch (item.type) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] }
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' }
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', input: '' }
    case 'reasoning':
      return { ...item, summary: [] }
    default:
      return item
  }
}

interface ItemPlace extends JsonObject {
  readonly item_id: unknown
  readonly output_index: number
}

function listItemEvents(item: JsonObject, place: ItemPlace): Event[] {
  const { content, summary } = item
  switch (item.type) {
    case 'message':
      return listObjects(content).flatMap((part, index) => {
        return listPartEvents(part, { ...place, content_index: index })
      })
    case 'reasoning':
      return listObjects(summary).flatMap((part, index) => {
        return listSummaryEvents(part, { ...place, summary_index: index })
      })
    case 'function_call':
      return listTextEvents('response.function_call_arguments', 'arguments', item.arguments, place)
    case 'custom_tool_call':
      return listTextEvents('response.custom_tool_call_input', 'input', item.input, place)
    default:
      return []
  }
}

function listObjects(values: unknown): JsonObject[] {
  return Array.isArray(values) ? values.filter(isObject) : []
}

function listPartEvents(part: JsonObject, place: JsonObject): Event[] {
  const field = part.type === 'refusal' ? 'refusal' : 'text'
  const base = part.type === 'refusal' ? 'response.refusal' : 'response.output_text'
  return [
    { type: 'response.content_part.added', ...place, part: { ...part, [field]: '' } },
    ...listTextEvents(base, field, part[field], { ...place, logprobs: [] }),
    { type: 'response.content_part.done', ...place, part },
  ]
}

function listSummaryEvents(part: JsonObject, place: JsonObject): Event[] {
  return [
    { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
    ...listTextEvents('response.reasoning_summary_text', 'text', part.text, place),
    { type: 'response.reasoning_summary_part.done', ...place, part },
  ]
}

function listTextEvents(base: string, field: string, value: unknown, place: JsonObject): Event[] {
  const text = asString(value) ?? ''
  return [
    { type: `${base}.delta`, ...place, delta: text },
    { type: `${base}.done`, ...place, [field]: text },
  ]
}
