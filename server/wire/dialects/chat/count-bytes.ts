/** Counts the generated output in UTF-8 bytes: the basis of an estimate without usage. */
import { isObject, member } from '../../../base/lib/json.ts'
import { readContentText, readReasoning } from './read-message.ts'
import { readArguments } from './tool-calls.ts'

/** Text, reasoning, refusal and tool arguments of a message, or of the delta of one. */
export function countMessageBytes(message: unknown): number {
  if (!isObject(message)) return 0
  const { content, tool_calls: calls, function_call: legacy } = message
  let bytes = countText(content) + countText(message.refusal) + countText(readReasoning(message))
  if (Array.isArray(calls)) {
    for (const call of calls) bytes += countArguments(member(call, 'function'))
  }
  return bytes + countArguments(legacy)
}

function countText(value: unknown): number {
  return Buffer.byteLength(readContentText(value))
}

function countArguments(functionCall: unknown): number {
  return Buffer.byteLength(readArguments(member(functionCall, 'arguments')))
}
