// ARK's error body, one shape for all its services.
import { isObject, type Json } from '../kernel/checks.ts'
import { type Exchange, type Failure, type WholeReply, whole } from '../kernel/exchange.ts'

interface Known {
  code: string
  type: string
  message: string
}

const BY_STATUS: Record<number, Known> = {
  400: { code: 'InvalidParameter', type: 'BadRequest', message: 'A parameter is not valid.' },
  401: {
    code: 'AuthenticationError',
    type: 'Unauthorized',
    message: 'The API key or AK/SK in the request is missing or invalid.',
  },
  403: { code: 'AccessDenied', type: 'Forbidden', message: 'Access is denied.' },
  404: {
    code: 'InvalidEndpointOrModel.NotFound',
    type: 'NotFound',
    message: 'The model or endpoint does not exist or you do not have access to it.',
  },
  429: {
    code: 'ModelAccountRpmRateLimitExceeded',
    type: 'TooManyRequests',
    message: 'The RPM limit of the model for this account is exceeded.',
  },
  500: {
    code: 'InternalServiceError',
    type: 'InternalServerError',
    message: 'The service encountered an unexpected internal error.',
  },
}

/** Codes of OpenAI's checks in ARK's words. */
const CODES: Record<string, string> = {
  missing_required_parameter: 'MissingParameter',
  model_not_found: 'InvalidEndpointOrModel.NotFound',
  context_length_exceeded: 'OutofContextError',
  unsupported_parameter: 'InvalidParameter.UnsupportedParameter',
  invalid_api_key: 'AuthenticationError',
}

export function arkErrorBody(requestId: string) {
  return (failure: Failure): Json => {
    const known = BY_STATUS[failure.status] ?? BY_STATUS[500]
    const code = codeOf(failure) ?? known?.code
    const message = `${failure.message ?? known?.message} Request id: ${requestId}`
    return { error: { code, message, param: failure.param ?? '', type: known?.type } }
  }
}

function codeOf({ code, param }: Failure): string | undefined {
  if (code === undefined) return undefined
  const translated = CODES[code] ?? (/^[a-z_]+$/.test(code) ? 'InvalidParameter' : code)
  return translated === 'MissingParameter' && param ? `${translated}.${param}` : translated
}

export function arkFailure(exchange: Exchange, failure: Failure): WholeReply {
  const headers: Record<string, string> =
    failure.retryAfterSeconds === undefined
      ? {}
      : { 'retry-after': String(failure.retryAfterSeconds) }
  const body = arkErrorBody(exchange.requestId)(failure)
  const reason = isObject(body.error) ? String(body.error.code) : `HTTP ${failure.status}`
  return whole(failure.status, body, { headers, reason })
}
