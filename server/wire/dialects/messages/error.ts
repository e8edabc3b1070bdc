/**
 * Writes errors of the messages format (docs/protocols/anthropic.md#errors), whole and as an event.
 */
import { redactInStrings } from '../../../base/lib/text/redact-internals.ts'
import type { ReportedError } from '../reported-error.ts'
import { encodeSseEvent } from '../sse.ts'

/** Types by the gateway's and the chat vendors' types and codes; all others are `api_error`. */
const TYPES: readonly (readonly [pattern: RegExp, type: string])[] = [
  [/overload|capacity|unavailable|^(503|529)$/i, 'overloaded_error'],
  [/rate_?limit|too_?many|^429$/i, 'rate_limit_error'],
  [/billing|quota|balance|^402$/i, 'billing_error'],
  [/context_length|invalid_request|bad_?request|^400$/i, 'invalid_request_error'],
]

/** Returns the error type of the messages format. */
export function toMessagesErrorType({ type, code = '' }: ReportedError): string {
  const found = TYPES.find(([pattern]) => pattern.test(code) || pattern.test(type))
  return found?.[1] ?? 'api_error'
}

export function buildMessagesError(error: ReportedError): unknown {
  const { message } = error
  return { type: 'error', error: { type: toMessagesErrorType(error), message } }
}

/** Returns the event that ends a failed stream; no `message_stop` follows. */
export function encodeMessagesError(error: ReportedError): string {
  return encodeSseEvent('error', JSON.stringify(redactInStrings(buildMessagesError(error))))
}

/** An event that keeps a silent stream alive, allowed between any two events. */
export const MESSAGES_PING = encodeSseEvent('ping', '{"type":"ping"}')
