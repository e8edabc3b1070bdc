/** Reads the usage of a whole chat completion, whose bytes pass unchanged. */
import { isAbsent, isObject, member } from '../../../base/lib/json.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import type { BodyReading } from '../tap.ts'
import { countMessageBytes } from './count-bytes.ts'
import { readChatError } from './read-error.ts'
import { type ChatUsageOptions, readChatUsage } from './read-usage.ts'

/** Reads a parsed completion; anything that is no completion is an error of the upstream. */
export function readChatBody(document: unknown, options: ChatUsageOptions = {}): BodyReading {
  const error = readChatError(document)
  if (error) return { ...readChatUsage(document, options), outputBytes: 0, error }
  const choices = member(document, 'choices')
  if (!isObject(document) || !Array.isArray(choices) || !choices.some(isChoice)) {
    return { outputBytes: 0, error: UPSTREAM_ERROR }
  }
  let outputBytes = 0
  for (const choice of choices) outputBytes += countMessageBytes(member(choice, 'message'))
  return { ...readChatUsage(document, options), outputBytes }
}

/** A completion has at least one message; text of another shape would be read as empty. */
function isChoice(choice: unknown): boolean {
  const message = member(choice, 'message')
  if (!isObject(message)) return false
  const { content, tool_calls: calls } = message
  if (!isAbsent(calls) && !(Array.isArray(calls) && calls.every(isCall))) return false
  return isAbsent(content) || typeof content === 'string' || Array.isArray(content)
}

/** A call without a name cannot be answered. */
function isCall(call: unknown): boolean {
  const name = member(member(call, 'function') ?? member(call, 'custom'), 'name')
  return typeof name === 'string' && name !== ''
}
