/** Converts a whole message to a messages stream. */

import { tryParseExact } from '../../../base/lib/exact-numbers.ts'
import { asString, isObject, type JsonObject, writeJson } from '../../../base/lib/json.ts'
import type { Relay } from '../relay.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import { encodeSseEvent } from '../sse.ts'
import { createUnfolder } from '../unfold-document.ts'
import { encodeMessagesError } from './error.ts'
import { readMessagesBody } from './read-body.ts'

/** Returns a relay for a whole message; an error is the only event of its stream. */
export function createMessagesUnfolder(): Relay {
  return createUnfolder((body) => {
    const document = tryParseExact(body)
    const { error } = readMessagesBody(document)
    if (error || !isObject(document)) return encodeMessagesError(error ?? UPSTREAM_ERROR)
    return listEvents(document).map(encodeEvent).join('')
  })
}

type Event = JsonObject & { readonly type: string }

function encodeEvent(event: Event): string {
  return encodeSseEvent(event.type, writeJson(event))
}

function listEvents(message: JsonObject): Event[] {
  const { content, stop_reason: reason, stop_sequence: sequence = null, usage } = message
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  const start = { ...message, content: [], stop_reason: null, stop_sequence: null }
  return [
    { type: 'message_start', message: start },
    ...blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: emptyBlock(block) },
      ...listDeltas(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: sequence },
      usage: isObject(usage) ? usage : {},
    },
    { type: 'message_stop' },
  ]
}

/** Clients append to these fields, so that they begin empty. */
function emptyBlock(block: JsonObject): JsonObject {
  switch (block.type) {
    case 'text':
      return { ...block, text: '', ...(block.citations ? { citations: [] } : {}) }
    case 'thinking':
      return { ...block, thinking: '', signature: '' }
    case 'tool_use':
    case 'server_tool_use':
      return { ...block, input: {} }
    default:
      return block
  }
}

function listDeltas({
  type,
  text,
  citations,
  thinking,
  signature,
  input,
}: JsonObject): JsonObject[] {
  switch (type) {
    case 'text':
      return [
        { type: 'text_delta', text: asString(text) ?? '' },
        ...(Array.isArray(citations) ? citations : []).map((citation: unknown) => {
          return { type: 'citations_delta', citation }
        }),
      ]
    case 'thinking':
      return [
        { type: 'thinking_delta', thinking: asString(thinking) ?? '' },
        { type: 'signature_delta', signature: asString(signature) ?? '' },
      ]
    case 'tool_use':
    case 'server_tool_use':
      return [{ type: 'input_json_delta', partial_json: writeJson(input ?? {}) }]
    default:
      return []
  }
}
