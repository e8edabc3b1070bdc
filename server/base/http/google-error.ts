/** The error body that clients of Google's API read (docs/protocols/google.md#errors). */
import { ERRORS, type GatewayError } from '../lib/errors.ts'

const NAMES: Readonly<Record<number, string>> = {
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

export function renderGoogleError(error: GatewayError): unknown {
  const { status } = ERRORS[error.row]
  const { retryAfterSeconds } = error.details
  const type = 'type.googleapis.com/google.rpc.RetryInfo'
  const wait = { '@type': type, retryDelay: `${Math.ceil(retryAfterSeconds ?? 0)}s` }
  return {
    error: {
      code: status,
      message: error.message,
      status: NAMES[status] ?? 'INVALID_ARGUMENT',
      ...(retryAfterSeconds === undefined ? {} : { details: [wait] }),
    },
  }
}
