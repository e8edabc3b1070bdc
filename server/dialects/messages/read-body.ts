/** Reads the usage of a whole message, whose bytes pass unchanged. */
import { asString, isObject, type JsonObject, member, writeJson } from '../../lib/json.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import type { BodyReading } from '../tap.ts'
import { readMessagesError } from './read-error.ts'
import { type MessagesUsageOptions, readMessagesUsage } from './read-usage.ts'

/** Reads a parsed message; anything that is none is an error of the upstream. */
export function readMessagesBody(
  document: unknown,
  options: MessagesUsageOptions = {},
): BodyReading {
  const error = readMessagesError(document)
  if (error) return { outputBytes: 0, error }
  if (!isObject(document) || !isMessage(document) || !Array.isArray(document.content)) {
    return { outputBytes: 0, error: UPSTREAM_ERROR }
  }
  let outputBytes = 0
  for (const block of document.content) if (isObject(block)) outputBytes += countBlockBytes(block)
  return { ...readMessagesUsage(document, options), outputBytes }
}

/** Text of another shape would be read as an empty message. */
function isMessage({ type, role, content }: JsonObject): boolean {
  const isNamed = type === 'message' || role === 'assistant'
  return isNamed && Array.isArray(content) && content.every((block) => member(block, 'type'))
}

/** UTF-8 bytes that the model wrote: text, thinking, and the input of a call as JSON. */
function countBlockBytes({ text, thinking, input }: JsonObject): number {
  const output = (asString(text) ?? '') + (asString(thinking) ?? '')
  return Buffer.byteLength(isObject(input) ? output + writeJson(input) : output)
}
