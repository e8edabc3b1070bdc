// Anthropic's error body and headers, as its SDKs read them.
import { type Exchange, type Failure, Refused, type WholeReply, whole } from '../kernel/exchange.ts'

const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

const MESSAGES: Record<string, string> = {
  authentication_error: 'invalid x-api-key',
  billing_error: 'Your credit balance is too low to access the API.',
  rate_limit_error: 'This request would exceed your rate limit.',
  overloaded_error: 'Overloaded',
  api_error: 'Internal server error',
  request_too_large: 'Request exceeds the maximum allowed number of bytes.',
  timeout_error: 'Request timed out.',
}

export function errorBody(exchange: Exchange, failure: Failure): Record<string, unknown> {
  const type = failure.code ?? TYPES[failure.status] ?? 'api_error'
  const message = failure.message ?? MESSAGES[type] ?? 'Invalid request'
  return { type: 'error', error: { type, message }, request_id: exchange.requestId }
}

export function anthropicFailure(exchange: Exchange, failure: Failure): WholeReply {
  const headers: Record<string, string> = {}
  if (failure.status === 429) Object.assign(headers, rateLimits(0), { 'retry-after': '20' })
  if (failure.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(failure.retryAfterSeconds)
  }
  const body = errorBody(exchange, failure)
  return whole(failure.status, body, { headers, reason: `HTTP ${failure.status}` })
}

export function rateLimits(remaining: number): Record<string, string> {
  const reset = '2026-01-01T00:00:20Z'
  const limits: Record<string, string> = {}
  for (const [kind, limit] of [
    ['requests', 4000],
    ['input-tokens', 400_000],
    ['output-tokens', 80_000],
  ] as const) {
    limits[`anthropic-ratelimit-${kind}-limit`] = String(limit)
    limits[`anthropic-ratelimit-${kind}-remaining`] = String(Math.min(remaining, limit))
    limits[`anthropic-ratelimit-${kind}-reset`] = reset
  }
  return limits
}

export const invalid = (message: string): Refused => new Refused({ status: 400, message })
