/** The error that a messages upstream reports, whole or as an event. */
import { asString, isObject, member } from '../../lib/json.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'

/** Nested as the format has it, or flat as some proxies do; undefined for no error. */
export function readMessagesError(document: unknown): ReportedError | undefined {
  if (!isObject(document)) return undefined
  const { error, type } = document
  if (type !== 'error' && (error === undefined || error === null)) return undefined
  const inner = isObject(error) ? error : document
  const given = asString(member(inner, 'type'))
  return {
    type: given === undefined || given === 'error' ? UPSTREAM_ERROR.type : given,
    message: asString(inner.message) || asString(error) || UPSTREAM_ERROR.message,
  }
}
