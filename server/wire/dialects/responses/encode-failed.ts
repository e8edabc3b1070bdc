/**
 * Writes `response.failed`, the ending of a Responses stream that failed. Codex ignores `error`
 * events and repeats a request whose stream stops without an ending.
 */

import { randomText } from '../../../base/lib/ids.ts'
import type { JsonObject } from '../../../base/lib/json.ts'
import { redactInternals } from '../../../base/lib/text/redact-internals.ts'
import type { ReportedError } from '../reported-error.ts'
import { encodeSseEvent } from '../sse.ts'

/** Codes by the `type` of the public error table. Clients never retry `insufficient_quota`. */
const CODES: ReadonlyMap<string, string> = new Map([
  ['rate_limit_error', 'rate_limit_exceeded'],
  ['billing_error', 'insufficient_quota'],
])

/**
 * Returns `response.error`. A quota error of the upstream concerns the operator's account, so the
 * caller does not get that code.
 */
export function describeError({ type, code, message }: ReportedError): JsonObject {
  const publicCode = code === 'insufficient_quota' ? 'server_error' : code
  const fallback = type === 'invalid_request_error' ? 'invalid_prompt' : 'server_error'
  return { code: CODES.get(type) ?? publicCode ?? fallback, message: redactInternals(message) }
}

export interface FailedEvent {
  readonly error: ReportedError
  /** The response object of the stream's first event; undefined without one. */
  readonly response: JsonObject | undefined
  readonly sequenceNumber: number
}

/** Returns the event as text. Without a first event the response gets an id of its own. */
export function encodeFailedEvent({ error, response, sequenceNumber }: FailedEvent): string {
  const known = response ?? { id: `resp_${randomText(48)}`, object: 'response', created_at: 0 }
  const failed = {
    output: [],
    usage: null,
    ...known,
    status: 'failed',
    error: describeError(error),
  }
  return encodeSseEvent(
    'response.failed',
    JSON.stringify({
      type: 'response.failed',
      sequence_number: sequenceNumber,
      response: failed,
    }),
  )
}
