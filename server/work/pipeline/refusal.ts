/** Translates an upstream's failure to the caller's error. */
import { GatewayError } from '../../base/lib/errors.ts'
import { tryParseJson, writeJson } from '../../base/lib/json.ts'
import {
  type IsCallersText,
  redactInStrings,
  redactInternals,
} from '../../base/lib/text/redact-internals.ts'
import type { FailureKind, UpstreamFailure } from '../../wire/upstreams/failure.ts'
import type { Metering } from './metering.ts'

/**
 * Returns a 4xx with the vendor's message for a rejected request, a 429 for a busy vendor, and
 * otherwise a 502 without details of our accounts. It also states whether a retry is safe, since a
 * vendor may bill a request that it did not answer.
 */
export function toGatewayError(failure: UpstreamFailure, request?: RequestText): GatewayError {
  const { status, message, code, param, retryAfterSeconds } = failure.details
  const hide = (text: string) => redactInternals(text, knownIn(request))
  const cause = failure
  if (failure.kind === 'rejected') {
    return new GatewayError('invalid_request', {
      cause,
      ...(message ? { message: hide(message) } : {}),
      ...(code ? { code: hide(code) } : {}),
      ...(param ? { param: hide(param) } : {}),
      ...(status === 413 ? { status } : {}),
      retry: false,
    })
  }
  if (failure.kind === 'busy' && status === 429) {
    return new GatewayError('rate_limited', { cause, retryAfterSeconds: retryAfterSeconds ?? 1 })
  }
  const retry = RETRYABLE.has(failure.kind)
  const wait = retry ? { retryAfterSeconds: retryAfterSeconds ?? 1 } : {}
  return new GatewayError('upstream_failed', { cause, retry, ...wait })
}

/** Kinds of failures in which no work was done, so that a retry may succeed. */
const RETRYABLE: ReadonlySet<FailureKind> = new Set(['not_sent', 'busy', 'failed'])

/** Returns the vendor's own refusal if the endpoint passes it through. */
export function nativeRefusal(metering: Metering, failure: UpstreamFailure, request?: RequestText) {
  const { answer, status } = failure.details
  if (!metering.passesRefusals || failure.kind !== 'rejected' || !answer || !status)
    return undefined
  return { status, contentType: answer.contentType, body: hideInRefusal(answer.body, request) }
}

/** Returns the body itself if nothing in it needs to be hidden. */
function hideInRefusal(body: Buffer, request: RequestText): Buffer {
  const document = tryParseJson(body) ?? body.toString('utf8')
  const shown = redactInStrings(document, knownIn(request))
  if (shown === document) return body
  return Buffer.from(typeof shown === 'string' ? shown : writeJson(shown))
}

/** The body of the request, or the part of it that is stored. */
type RequestText = Buffer | string | undefined

/**
 * Bytes of a request that are searched for the words of one answer: if a vendor repeats a large
 * request word by word, the search would take quadratic time. Words beyond the limit are hidden.
 */
const SEARCHED_BYTES_MAX = 64 * 1024 * 1024

/** Returns a predicate: true for words that the caller's own request contains. */
export function knownIn(request: RequestText): IsCallersText {
  let searchedBytes = 0
  return (words) => {
    // Very short words occur in every request.
    if (request === undefined || words.length <= 3 || searchedBytes > SEARCHED_BYTES_MAX)
      return false
    searchedBytes += request.length
    return request.includes(words)
  }
}
