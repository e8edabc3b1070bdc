/**
 * The ending of a Responses stream that failed. Codex believes nothing else: it ignores `error`
 * events, and repeats a request whose stream just stops.
 */

import { randomText } from '../../lib/ids.ts'
import type { JsonObject } from '../../lib/json.ts'
import { hideInside } from '../../lib/text/hide-inside.ts'
import type { ReportedError } from '../reported-error.ts'
import { encodeSseEvent } from '../sse.ts'

/** The code for a `type` of the public error table. `insufficient_quota` is never retried. */
const CODES: ReadonlyMap<string, string> = new Map([
  ['rate_limit_error', 'rate_limit_exceeded'],
  ['billing_error', 'insufficient_quota'],
])

/**
 * What `response.error` says of a failure. A quota that an upstream complains of is the
 * operator's: a client told of one would send its user to a bill that is not theirs.
 */
export function describeError({ type, code, message }: ReportedError): JsonObject {
  const given = code === 'insufficient_quota' ? 'server_error' : code
  const fallback = type === 'invalid_request_error' ? 'invalid_prompt' : 'server_error'
  return { code: CODES.get(type) ?? given ?? fallback, message: hideInside(message) }
}

export interface FailedEvent {
  readonly error: ReportedError
  /** What the stream's first event said of the response, when there was one. */
  readonly response: JsonObject | undefined
  readonly sequenceNumber: number
}

/** The event as text. Without a first event the response gets an id of its own. */
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
