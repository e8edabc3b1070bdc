// OpenAI's error body, and the refusals that several of its endpoints share.
import { type Exchange, type Failure, Refused, type WholeReply, whole } from '../kernel/exchange.ts'

const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
}

const CODES: Record<number, string> = {
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
}

const MESSAGES: Record<string, string> = {
  400: 'Invalid request.',
  401: 'Incorrect API key provided. You can find your API key in your account settings.',
  403: 'You are not allowed to sample from this model.',
  404: 'The model does not exist or you do not have access to it.',
  429: 'Rate limit reached for requests. Limit: 3 / min. Please try again in 20s.',
  500: 'The server had an error while processing your request. Sorry about that!',
  503: 'The engine is currently overloaded, please try again later.',
  insufficient_quota:
    'You exceeded your current quota, please check your plan and billing details.',
  context_length_exceeded:
    "This model's maximum context length is 128000 tokens. However, your messages resulted in " +
    '200000 tokens. Please reduce the length of the messages.',
}

export function openaiError(failure: Failure): Record<string, unknown> {
  const code = failure.code ?? CODES[failure.status] ?? null
  const type =
    code === 'insufficient_quota' ? code : (TYPES[failure.status] ?? kindOf(failure.status))
  const message =
    failure.message ?? MESSAGES[code ?? ''] ?? MESSAGES[failure.status] ?? MESSAGES[500]
  return { error: { message, type, param: failure.param ?? null, code } }
}

const kindOf = (status: number) => (status >= 500 ? 'server_error' : 'invalid_request_error')

export function openaiFailure(_exchange: Exchange, failure: Failure): WholeReply {
  const headers: Record<string, string> = {}
  if (failure.status === 429) {
    Object.assign(headers, rateLimits(0))
    headers['retry-after'] = '20'
  }
  if (failure.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(failure.retryAfterSeconds)
  }
  return whole(failure.status, openaiError(failure), { headers, reason: `HTTP ${failure.status}` })
}

export function rateLimits(remaining: number): Record<string, string> {
  return {
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-limit-tokens': '2000000',
    'x-ratelimit-remaining-requests': String(remaining),
    'x-ratelimit-remaining-tokens': String(remaining * 200),
    'x-ratelimit-reset-requests': remaining === 0 ? '20s' : '6ms',
    'x-ratelimit-reset-tokens': remaining === 0 ? '20s' : '1ms',
  }
}

export function invalid(param: string, code: string | undefined, message: string): Refused {
  return new Refused({ status: 400, param, code, message })
}

export const missing = (param: string): Refused =>
  invalid(param, 'missing_required_parameter', `Missing required parameter: '${param}'.`)

export function badType(param: string, expected: string): Refused {
  return invalid(param, 'invalid_type', `Invalid type for '${param}': expected ${expected}.`)
}

export function badValue(param: string, value: unknown, allowed: string[]): Refused {
  const list = allowed.map((one) => `'${one}'`).join(', ')
  const message = `Invalid value: '${String(value)}'. Supported values are: ${list}.`
  return invalid(param, 'invalid_value', message)
}
