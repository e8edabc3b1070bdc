/** What the caller is told when no upstream did the work. */
import { GatewayError } from '../errors.ts'
import type { FailureKind, UpstreamFailure } from '../upstreams/failure.ts'
import type { Metering } from './metering.ts'

/**
 * A request at fault is a 4xx with the vendor's words about it; a busy vendor is a 429; all else
 * is a 502 that says nothing of our accounts. Whether the request may be repeated is said too: a
 * vendor may bill what it answered with silence.
 */
export function toGatewayError(failure: UpstreamFailure): GatewayError {
  const { status, message, code, param, retryAfterSeconds } = failure.details
  const cause = failure
  if (failure.kind === 'rejected') {
    return new GatewayError('invalid_request', {
      cause,
      ...(message ? { message } : {}),
      ...(code ? { code } : {}),
      ...(param ? { param } : {}),
      ...(status === 413 || status === 422 ? { status } : {}),
      retry: false,
    })
  }
  if (failure.kind === 'busy' && status === 429) {
    return new GatewayError('rate_limited', { cause, retryAfterSeconds: retryAfterSeconds ?? 1 })
  }
  const retry = MAY_REPEAT.has(failure.kind)
  const wait = retry ? { retryAfterSeconds: retryAfterSeconds ?? 1 } : {}
  return new GatewayError('upstream_failed', { cause, retry, ...wait })
}

/** Nothing was done, and it may go better soon. */
const MAY_REPEAT: ReadonlySet<FailureKind> = new Set(['not_sent', 'busy', 'failed'])

/** The vendor's own refusal, where the endpoint passes it through. */
export function passedThrough(metering: Metering, failure: UpstreamFailure) {
  const { answer, status } = failure.details
  if (!metering.passesRefusals || failure.kind !== 'rejected' || !answer || !status)
    return undefined
  return { status, contentType: answer.contentType, body: answer.body }
}
