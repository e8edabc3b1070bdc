// The two forms of openspeech's refusals: nested, by its gateway, with an HTTP status; and flat, by
// the product, as a line inside an HTTP 200.
import {
  type Exchange,
  type Failure,
  type Frame,
  Refused,
  type WholeReply,
  whole,
} from '../kernel/exchange.ts'

const GATEWAY_CODES: Record<number, number> = {
  400: 45000000,
  401: 45000010,
  403: 45000030,
  429: 45000000,
}

const MESSAGES: Record<number, string> = {
  45000000: 'quota exceeded for types: concurrency',
  45000010: 'Invalid X-Api-Key',
  45000030: '[resource_id=] requested resource not granted',
  55000000: 'internal server error',
  55000031: 'server busy',
  40402003: 'TTSExceededTextLimit: the text is too long',
}

const requestIdOf = (exchange: Exchange): string => {
  const requestId = exchange.request.headers['x-api-request-id']
  return typeof requestId === 'string' ? requestId : exchange.requestId
}

/** Returns a refusal by the product itself. */
export function refused(code: number, message: string): Refused {
  return new Refused({ status: 200, code: String(code), message })
}

export function flatError(exchange: Exchange, failure: Failure): Frame {
  const code = Number(failure.code ?? 55000000)
  const message = failure.message ?? MESSAGES[code] ?? 'internal server error'
  return { data: `${JSON.stringify({ code, message, reqid: requestIdOf(exchange) })}\n` }
}

export function speechFailure(exchange: Exchange, failure: Failure): WholeReply {
  const inside = failure.status === 200 || exchange.scenario.has('error-200')
  if (inside) {
    const { data } = flatError(exchange, failure)
    return { kind: 'whole', status: 200, body: data, reason: failure.message ?? 'flat error' }
  }
  const code = Number(failure.code ?? GATEWAY_CODES[failure.status] ?? 55000000)
  const message = failure.message ?? MESSAGES[code] ?? 'internal server error'
  const header = { reqid: requestIdOf(exchange), code, message }
  const headers: Record<string, string> =
    failure.retryAfterSeconds === undefined
      ? {}
      : { 'retry-after': String(failure.retryAfterSeconds) }
  return whole(failure.status, { header }, { headers, reason: message })
}
