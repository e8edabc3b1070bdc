/**
 * Reads the inputs of tool calls in a conversation once more where they have integers that no
 * double holds, such as ids: they are written anew in a request that does not pass as its bytes.
 */
import { tryParseExact } from '../../../base/lib/exact-numbers.ts'
import { isObject, type JsonObject } from '../../../base/lib/json.ts'
import {
  CLOSING,
  COMMA,
  type JsonFields,
  type JsonMember,
  OPENING,
  scanMembers,
  scannerAt,
  skipSpace,
  skipValue,
} from '../json-scan.ts'

interface SentRequest {
  readonly body: Buffer
  readonly fields: JsonFields
  readonly value: JsonObject
}

/** Returns the value of a request; the same object unless it has such inputs. */
export function withExactInputs({ body, fields, value }: SentRequest): JsonObject {
  const { messages } = value
  const sent = fields.get('messages')
  if (!sent || !Array.isArray(messages) || !messages.some(hasRounded)) return value
  const starts = listItems(body, sent.valueStart)
  const exact = messages.map((message, position) => {
    const start = starts[position]
    return start !== undefined && hasRounded(message) ? readMessage(body, start, message) : message
  })
  return { ...value, messages: exact }
}

function readMessage(body: Buffer, start: number, message: JsonObject): JsonObject {
  const content = message.content as readonly unknown[]
  const sent = memberAt(body, start, 'content')
  const starts = sent ? listItems(body, sent.valueStart) : []
  const blocks = content.map((block, position) => {
    const at = starts[position]
    const input = at !== undefined && isRounded(block) ? memberAt(body, at, 'input') : undefined
    if (!input) return block
    const exact = tryParseExact(body.subarray(input.valueStart, input.valueEnd))
    return { ...(block as JsonObject), input: exact }
  })
  return { ...message, content: blocks }
}

function hasRounded(message: unknown): message is JsonObject {
  return isObject(message) && Array.isArray(message.content) && message.content.some(isRounded)
}

/** Returns true for a call whose input may be another one than was sent. */
function isRounded(block: unknown): boolean {
  return isObject(block) && hasLong(block.input)
}

/** Recursion is limited by the depth of the body. */
function hasLong(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(hasLong)
}

/** An input with an escaped key is left as it was read. */
function memberAt(body: Buffer, start: number, name: string): JsonMember | undefined {
  if (body[start] !== OPENING.object) return undefined
  return scanMembers(body, start).find(({ key }) => key === name)
}

/** Returns the offsets of the items of the array that opens at `start`. */
function listItems(body: Buffer, start: number): readonly number[] {
  if (body[start] !== OPENING.array) return []
  const items: number[] = []
  const cursor = scannerAt(body, start + 1)
  while (!CLOSING.has(skipSpace(cursor))) {
    items.push(cursor.position)
    skipValue(cursor)
    if (skipSpace(cursor) === COMMA) cursor.position++
  }
  return items
}
