/** What the caller is told when no upstream did the work. */
import { GatewayError } from '../lib/errors.ts'
import { tryParseJson } from '../lib/json.ts'
import { hideInStrings, hideInside, type Known } from '../lib/text/hide-inside.ts'
import type { FailureKind, UpstreamFailure } from '../upstreams/failure.ts'
import type { Metering } from './metering.ts'

/**
 * A request at fault is a 4xx with the vendor's words about it; a busy vendor is a 429; all else
 * is a 502 that says nothing of our accounts. Whether the request may be repeated is said too: a
 * vendor may bill what it answered with silence.
 */
export function toGatewayError(failure: UpstreamFailure, asked?: Asked): GatewayError {
  const { status, message, code, param, retryAfterSeconds } = failure.details
  const hide = (text: string) => hideInside(text, knownIn(asked))
  const cause = failure
  if (failure.kind === 'rejected') {
    return new GatewayError('invalid_request', {
      cause,
      ...(message ? { message: hide(message) } : {}),
      ...(code ? { code: hide(code) } : {}),
      ...(param ? { param: hide(param) } : {}),
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
export function passedThrough(metering: Metering, failure: UpstreamFailure, asked?: Asked) {
  const { answer, status } = failure.details
  if (!metering.passesRefusals || failure.kind !== 'rejected' || !answer || !status)
    return undefined
  return { status, contentType: answer.contentType, body: hideInRefusal(answer.body, asked) }
}

/** The bytes as they came when nothing is hidden. */
function hideInRefusal(body: Buffer, asked: Asked): Buffer {
  const document = tryParseJson(body) ?? body.toString('utf8')
  const shown = hideInStrings(document, knownIn(asked))
  if (shown === document) return body
  return Buffer.from(typeof shown === 'string' ? shown : JSON.stringify(shown))
}

/** The request as it was sent, or what is kept of it. */
type Asked = Buffer | string | undefined

/** Whether the caller wrote words themselves. Single letters prove nothing. */
export function knownIn(asked: Asked): Known {
  return (words) => words.length > 3 && asked?.includes(words) === true
}
