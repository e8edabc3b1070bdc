/** Reads the usage and error of a response object, whole or in a final event. */
import { asString, isObject, member } from '../../../base/lib/json.ts'
import type { ChatUsageOptions } from '../chat/read-usage.ts'
import { isStatedError, type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import type { BodyReading } from '../tap.ts'
import { createResponseUsageReader } from './read-usage.ts'

/** The public `type` of a code; the codes are those of OpenAI's response errors. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['rate_limit_exceeded', 'rate_limit_error'],
  ['context_length_exceeded', 'invalid_request_error'],
  ['invalid_prompt', 'invalid_request_error'],
  ['invalid_image', 'invalid_request_error'],
])

/**
 * Returns the failure stated by a response object or an `error` object; undefined for none, or for
 * an empty one.
 */
export function readResponseError(error: unknown): ReportedError | undefined {
  if (typeof error === 'string' && error !== '') return { ...UPSTREAM_ERROR, message: error }
  if (!isObject(error) || !isStatedError(error)) return undefined
  const { code, type } = error
  const message = asString(error.message) || UPSTREAM_ERROR.message
  const known = typeof code === 'string' || typeof code === 'number' ? String(code) : undefined
  const errorType = asString(type)?.endsWith('_error') ? asString(type) : undefined
  return {
    type: TYPES.get(known ?? '') ?? errorType ?? UPSTREAM_ERROR.type,
    message,
    ...(known === undefined ? {} : { code: known }),
  }
}

/** Reads a parsed answer of `POST /v1/responses`; anything else is an error of the upstream. */
export function readResponseBody(document: unknown, options: ChatUsageOptions = {}): BodyReading {
  const error = readResponseError(member(document, 'error'))
  const output = member(document, 'output')
  const isResponse = Array.isArray(output) || member(document, 'object') === 'response'
  // The usage of another document, such as a completion, is not that of an answer.
  if (!error && !isResponse) return { outputBytes: 0, error: UPSTREAM_ERROR }
  const usage = createResponseUsageReader(options)
  if (isObject(document)) usage.read(document)
  const problem = error ?? (isFailed(document) ? UPSTREAM_ERROR : undefined)
  const id = member(document, 'id')
  return {
    ...usage.reading(),
    outputBytes: countOutputBytes(output),
    ...(typeof id === 'string' ? { answerId: id } : {}),
    ...(problem === undefined ? {} : { error: problem }),
  }
}

function isFailed(document: unknown): boolean {
  return member(document, 'status') === 'failed'
}

/** Counts the UTF-8 bytes of the output: texts, reasoning, arguments and inputs of tools. */
function countOutputBytes(output: unknown): number {
  return Array.isArray(output) ? output.reduce((sum, item) => sum + countItemBytes(item), 0) : 0
}

export function countItemBytes(item: unknown): number {
  if (!isObject(item)) return 0
  const { content, summary, arguments: argumentsText, input } = item
  return countTexts(content) + countTexts(summary) + countText(argumentsText) + countText(input)
}

function countTexts(parts: unknown): number {
  if (!Array.isArray(parts)) return 0
  let bytes = 0
  for (const part of parts) {
    bytes += countText(member(part, 'text')) + countText(member(part, 'refusal'))
  }
  return bytes
}

function countText(text: unknown): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : 0
}
