/**
 * The ending of a Responses stream that failed. Codex believes nothing else: it ignores `error`
 * events, and repeats a request whose stream just stops.
 */
import { randomText } from '../../lib/ids.ts'
import type { JsonObject } from '../../lib/json.ts'
import { encodeSseEvent } from '../sse.ts'
import type { ResponseError } from './read-response.ts'

/** The code for a `type` of the public error table. `insufficient_quota` is never retried. */
const CODES: ReadonlyMap<string, string> = new Map([
  ['rate_limit_error', 'rate_limit_exceeded'],
  ['billing_error', 'insufficient_quota'],
  ['invalid_request_error', 'invalid_prompt'],
])

/** What `response.error` says of a failure. */
export function describeError({ type, code, message }: ResponseError): JsonObject {
  return { code: code ?? CODES.get(type) ?? 'server_error', message }
}

export interface FailedEvent {
  readonly error: ResponseError
  /** The response as the stream's first event told it, when there was one. */
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
