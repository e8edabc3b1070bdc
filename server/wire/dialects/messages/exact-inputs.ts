/**
 * Reads the inputs of tool calls in a conversation once more where they have integers that no
 * double holds, such as ids: they are written anew in a request that does not pass as its bytes.
 */
import { EXACT_BYTES_MAX, tryParseExact } from '../../../base/lib/exact-numbers.ts'
import { hasEscapedKey } from '../../../base/lib/json/json-string.ts'
import { isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { JsonFields } from '../json-scan.ts'

interface SentRequest {
  readonly body: Buffer
  readonly fields: JsonFields
  readonly value: JsonObject
}

/**
 * Returns the value of a request; the same object unless it has such inputs. The limits of
 * `tryParseExact` hold for the conversation as a whole: beyond them all of its numbers remain
 * doubles.
 */
export function withExactInputs({ body, fields, value }: SentRequest): JsonObject {
  const { messages } = value
  const sent = fields.get('messages')
  if (!sent || sent.valueEnd - sent.valueStart > EXACT_BYTES_MAX) return value
  if (!Array.isArray(messages) || !messages.some(hasRounded)) return value
  const bytes = body.subarray(sent.valueStart, sent.valueEnd)
  // The parser of documents this long may take an escaped key for another one.
  if (hasEscapedKey(bytes)) return value
  const exact = tryParseExact(bytes)
  return { ...value, messages: takeInputs(messages, exact) }
}

/** Returns the messages with the inputs of `exact`, which was read from the same bytes. */
function takeInputs(messages: readonly unknown[], exact: unknown): readonly unknown[] {
  return messages.map((message, position) => {
    if (!hasRounded(message)) return message
    const content = member(itemOf(exact, position), 'content')
    const blocks = message.content.map((block, at) => {
      return isRounded(block) ? { ...block, input: member(itemOf(content, at), 'input') } : block
    })
    return { ...message, content: blocks }
  })
}

function itemOf(list: unknown, position: number): unknown {
  return Array.isArray(list) ? list[position] : undefined
}

type Message = JsonObject & { readonly content: readonly unknown[] }

function hasRounded(message: unknown): message is Message {
  return isObject(message) && Array.isArray(message.content) && message.content.some(isRounded)
}

/** Returns true for a call whose input may be another one than was sent. */
function isRounded(block: unknown): block is JsonObject {
  return isObject(block) && hasLong(block.input)
}

/** Recursion is limited by the depth of the body. */
function hasLong(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(hasLong)
}
