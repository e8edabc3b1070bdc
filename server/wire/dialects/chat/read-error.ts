/**
 * Reads errors in place of a chunk or a completion (docs/protocols/openai.md#errors-in-answers).
 */
import { asString, isObject, member } from '../../../base/lib/json.ts'
import { isStatedError, type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'

/**
 * Returns the error of a document under status 200; undefined without one, or for an empty one that
 * some gateways in between write beside choices. Known forms: nested
 * `{error: {message}}`, flat `{error: "text"}`, vLLM's `{object: "error", message}`, and a choice
 * that finished with a failure.
 */
export function readChatError(document: unknown): ReportedError | undefined {
  if (!isObject(document)) return undefined
  const { error, choices } = document
  const isBeside = Array.isArray(choices) && !isStatedError(error)
  if (isObject(error) && !isBeside) return describe(error, document)
  if (typeof error === 'string' && error !== '') return { ...describe(document), message: error }
  if (document.object === 'error' || document.type === 'error') return describe(document)
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  if (!FAILURES.has(member(choice, 'finish_reason'))) return undefined
  const inChoice = member(choice, 'error')
  return isObject(inChoice) ? describe(inChoice) : UPSTREAM_ERROR
}

const FAILURES: ReadonlySet<unknown> = new Set(['error', 'network_error'])

function describe(error: object, outer?: object): ReportedError {
  const type = asString(member(error, 'type')) ?? asString(member(outer, 'type'))
  const message = asString(member(error, 'message')) || UPSTREAM_ERROR.message
  const code = member(error, 'code')
  const isUsefulType = type !== undefined && type !== '' && type !== 'error'
  return {
    type: isUsefulType ? type : UPSTREAM_ERROR.type,
    message,
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
  }
}
