// Errors of the search products are in three places: ResponseMetadata under a 4xx, the same under
// 200, and, for global search, Result.ErrorCode.
import { type Exchange, type Failure, Refused, type WholeReply, whole } from '../kernel/exchange.ts'

interface Known {
  name: string
  message: string
  status: number
}

const CODES: Record<number, Known> = {
  10400: { name: 'InvalidParameter', message: 'bad parameter', status: 400 },
  10401: { name: 'InvalidToken', message: 'invalid token', status: 401 },
  10402: { name: 'InvalidSearchType', message: 'search type illegal or not opened', status: 200 },
  10403: { name: 'PermissionDenied', message: 'no permission', status: 403 },
  10406: { name: 'FreeQuotaUsedUp', message: 'free quota used up', status: 200 },
  10409: { name: 'QuotaExceeded', message: 'quota exceeded', status: 200 },
  10410: { name: 'QuotaExceeded', message: 'quota exceeded', status: 200 },
  10412: { name: 'QuotaExceeded', message: 'quota exceeded', status: 200 },
  10500: { name: 'InternalError', message: 'internal error', status: 200 },
  700429: { name: 'QpsExceeded', message: 'qps exceeded', status: 429 },
  700901: { name: 'InvalidKey', message: 'the key is not usable', status: 401 },
}

const BY_STATUS: Record<number, number> = { 400: 10400, 401: 10401, 403: 10403, 429: 700429 }

export function refused(message: string, code = 10400): Refused {
  return new Refused({ status: CODES[code]?.status ?? 400, code: String(code), message })
}

/** `error-in` alone makes a search fail. */
export function failWhereAsked({ scenario }: Exchange): void {
  if (!scenario.has('error-in')) return
  const code = scenario.text('error-code') ?? '10500'
  const message = scenario.text('error-message') ?? CODES[Number(code)]?.message ?? 'error'
  const known = CODES[Number(code)]?.status ?? 200
  throw new Refused({ status: known === 200 ? 500 : known, code, message })
}

export function searchFailure(exchange: Exchange, failure: Failure): WholeReply {
  const codeN = Number(failure.code ?? BY_STATUS[failure.status] ?? 10500)
  const known = CODES[codeN] ?? { name: 'Error', message: 'error', status: 200 }
  const message = failure.message ?? known.message
  const reason = `${codeN} ${message}`
  const headers: Record<string, string> =
    failure.retryAfterSeconds === undefined
      ? {}
      : { 'retry-after': String(failure.retryAfterSeconds) }
  const place = exchange.scenario.text('error-in') ?? 'metadata'
  const metadata = metadataOf(exchange)
  if (place === 'result' && exchange.operation === 'global_search') {
    const Result = { TotalDocCount: 0, ErrorCode: codeN, ErrorMsg: message, Documents: null }
    return whole(200, { ResponseMetadata: metadata, Result }, { headers, reason })
  }
  const error = { CodeN: codeN, Code: known.name, Message: message }
  const body = { ResponseMetadata: { ...metadata, Error: error }, Result: null }
  const status = place === 'metadata-200' ? 200 : failure.status
  return whole(status, body, { headers, reason })
}

export function metadataOf(exchange: Exchange): Record<string, string> {
  const RequestId = exchange.scenario.has('duplicate-id') ? 'duplicate0001' : exchange.requestId
  if (exchange.operation === 'global_search') return { RequestId }
  return {
    RequestId,
    Action: 'WebSearch',
    Version: '2025-01-01',
    Service: 'volc_torchlight_api',
    Region: 'cn-beijing',
  }
}
