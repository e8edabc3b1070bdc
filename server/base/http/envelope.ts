/**
 * The shapes of an error body. `flat` is the gateway's own; `nested` is understood by every vendor
 * SDK and used on the routes they call. `messages` is nested for callers that send
 * `anthropic-version`, and flat for others. `native` is that of the native API, `google` that of
 * Google's. `admin` is flat and names the fields at fault.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { ERRORS, type ErrorRow, type GatewayError } from '../lib/errors.ts'
import { billingOf, renderNativeError } from './native-error.ts'

export type Envelope = 'flat' | 'admin' | 'nested' | 'messages' | 'native' | 'google'

export function renderError(
  error: GatewayError,
  envelope: Envelope,
  headers: IncomingHttpHeaders,
  requestId: string,
): unknown {
  if (envelope === 'native') return renderNativeError(error, requestId)
  if (envelope === 'google') return renderGoogleError(error)
  const { type } = ERRORS[error.row]
  const nested =
    envelope === 'nested' || (envelope === 'messages' && headers['anthropic-version'] !== undefined)
  const { code = null, param = null, problems } = error.details
  if (envelope === 'admin') {
    return { error: error.message, type, ...(param && { param }), problems }
  }
  const billing = billingOf(error)
  const { budget, forSdk } = error.details
  if (!nested) return { error: error.message, type, ...(budget && { code }), ...billing }
  const details = forSdk && { details: forSdk }
  return {
    type: 'error',
    error: { type, message: error.message, code, param, ...billing, ...details },
  }
}

/** Returns the headers of an error: Retry-After, x-should-retry, Allow, Upgrade and others. */
export function errorHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = {}
  const { retryAfterSeconds, allow, acceptEncoding } = error.details
  const row: ErrorRow = ERRORS[error.row]
  if (retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterSeconds)))
  } else if (row.status === 429 || row.status === 503) {
    headers['retry-after'] = '1'
  }
  if (allow)
    headers.allow = allow
      .flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : method))
      .join(', ')
  if (error.row === 'upgrade_required') headers.upgrade = 'websocket'
  if (acceptEncoding) headers['accept-encoding'] = acceptEncoding
  const retry = error.details.retry ?? row.retry
  if (retry !== undefined) headers['x-should-retry'] = String(retry)
  return headers
}

/** Names of statuses for clients of Google's API (docs/protocols/google.md#errors). */
const GOOGLE_NAMES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

function renderGoogleError(error: GatewayError): unknown {
  const { status } = ERRORS[error.row]
  const details = listGoogleDetails(error)
  return {
    error: {
      code: status,
      message: error.message,
      status: GOOGLE_NAMES[status] ?? 'INVALID_ARGUMENT',
      ...(details.length === 0 ? {} : { details }),
    },
  }
}

const GOOGLE_TYPES = 'type.googleapis.com/google.rpc.'

/**
 * Lists the time to wait and the budget that refused the call. Metadata values are strings, so null
 * is omitted.
 */
function listGoogleDetails({ details: { retryAfterSeconds, budget, code } }: GatewayError) {
  const found: object[] = []
  if (retryAfterSeconds !== undefined) {
    const retryDelay = `${Math.ceil(retryAfterSeconds)}s`
    found.push({ '@type': `${GOOGLE_TYPES}RetryInfo`, retryDelay })
  }
  if (budget) {
    const metadata = Object.fromEntries(Object.entries(budget).filter(([, one]) => one !== null))
    found.push({ '@type': `${GOOGLE_TYPES}ErrorInfo`, reason: code, domain: 'tributary', metadata })
  }
  return found
}
