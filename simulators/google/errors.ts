// Google's form of errors.
import type { Exchange, Failure, WholeReply } from '../kernel/exchange.ts'
import { Refused, whole } from '../kernel/exchange.ts'

const NAMES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

const DETAILS: Record<string, object[]> = {
  API_KEY_INVALID: [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
  ],
  'per-day': [
    {
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel', quotaValue: '20' }],
    },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' },
  ],
}

export function googleError({ status, code = '', message }: Failure) {
  const details = DETAILS[code]
  const name = details || code === '' ? (NAMES[status] ?? 'UNKNOWN') : code
  return {
    error: {
      code: status,
      message: message ?? `The request failed: ${name}`,
      status: name,
      ...(details ? { details } : {}),
    },
  }
}

/** A request for a stream is refused with the stream's content type, in plain JSON. */
export function googleFailure(exchange: Exchange, failure: Failure): WholeReply {
  const isStream = /:stream/.test(exchange.path)
  const headers: Record<string, string> = isStream ? { 'content-type': 'text/event-stream' } : {}
  const retry = failure.retryAfterSeconds
  if (retry !== undefined) headers['retry-after'] = String(retry)
  const reason = `HTTP ${failure.status}`
  return whole(failure.status, googleError(failure), { headers, reason })
}

export const invalid = (message: string): Refused => new Refused({ status: 400, message })
