/** Reads the usage of a whole message, whose bytes pass unchanged. */
import { asString, isObject, type JsonObject, member, writeJson } from '../../../base/lib/json.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import type { BodyReading } from '../tap.ts'
import { NOTHING_STATED, type UsageReading } from '../usage/usage-reading.ts'
import { readMessagesError } from './read-error.ts'
import { type MessagesUsageOptions, readMessagesUsage } from './read-usage.ts'

/** Reads a parsed message; any other document is an error of the upstream. */
export function readMessagesBody(
  document: unknown,
  options: MessagesUsageOptions = {},
): BodyReading {
  const error = readMessagesError(document)
  if (error) return { ...readBeside(document, options), outputBytes: 0, error }
  if (!isObject(document) || !isMessage(document) || !Array.isArray(document.content)) {
    return { outputBytes: 0, error: UPSTREAM_ERROR }
  }
  let outputBytes = 0
  for (const block of document.content) if (isObject(block)) outputBytes += countBlockBytes(block)
  return { ...readMessagesUsage(document, options), outputBytes }
}

/** Reads usage that stands beside an error. */
function readBeside(document: unknown, options: MessagesUsageOptions): UsageReading {
  return isObject(document) ? readMessagesUsage(document, options) : NOTHING_STATED
}

/** Text of another shape would be read as an empty message. */
function isMessage({ type, role, content }: JsonObject): boolean {
  const isNamed = type === 'message' || role === 'assistant'
  return isNamed && Array.isArray(content) && content.every(isBlock)
}

function isBlock(block: unknown): boolean {
  switch (member(block, 'type')) {
    case 'text':
      return typeof member(block, 'text') === 'string'
    case 'tool_use':
      return Boolean(asString(member(block, 'name')))
    default:
      return Boolean(member(block, 'type'))
  }
}

/** UTF-8 bytes that the model wrote: text, thinking, and the input of a call as JSON. */
function countBlockBytes({ text, thinking, input }: JsonObject): number {
  const output = (asString(text) ?? '') + (asString(thinking) ?? '')
  return Buffer.byteLength(isObject(input) ? output + writeJson(input) : output)
}
