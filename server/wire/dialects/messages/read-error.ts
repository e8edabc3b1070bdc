/** Reads the error that a messages upstream reports, whole or as an event. */
import { asString, isAbsent, isObject, member } from '../../../base/lib/json.ts'
import { isStatedError, type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'

/**
 * Reads the nested form of the format or the flat one of some proxies; undefined for none, or for
 * an empty one in a message or an event.
 */
export function readMessagesError(document: unknown): ReportedError | undefined {
  if (!isObject(document)) return undefined
  const { error, type } = document
  const isNone = isAbsent(error) || (type !== undefined && !isStatedError(error))
  if (type !== 'error' && isNone) return undefined
  const inner = isObject(error) ? error : document
  const errorType = asString(member(inner, 'type'))
  return {
    type: errorType === undefined || errorType === 'error' ? UPSTREAM_ERROR.type : errorType,
    message: asString(inner.message) || asString(error) || UPSTREAM_ERROR.message,
  }
}
