/**
 * The error body of the native API, whose clients read `error.code` and `error.type`
 * (docs/protocols/ark.md#errors).
 */
import { ERRORS, type ErrorName, type GatewayError } from '../lib/errors.ts'

interface NativeRow {
  readonly code: string
  readonly type: string
}

const BAD_REQUEST: NativeRow = { code: 'InvalidParameter', type: 'BadRequest' }
const UNAUTHORIZED: NativeRow = { code: 'AuthenticationError', type: 'Unauthorized' }
const FORBIDDEN: NativeRow = { code: 'AccessDenied', type: 'Forbidden' }
const INTERNAL: NativeRow = { code: 'InternalServiceError', type: 'InternalServerError' }
const MISSING = 'MissingParameter'

const ROWS: Readonly<Record<ErrorName, NativeRow>> = {
  invalid_request: BAD_REQUEST,
  model_required: { ...BAD_REQUEST, code: MISSING },
  unauthenticated: UNAUTHORIZED,
  signed_out: UNAUTHORIZED,
  insufficient_balance: { code: 'AccountOverdueError', type: 'Forbidden' },
  forbidden: FORBIDDEN,
  step_up_required: FORBIDDEN,
  second_factor_required: FORBIDDEN,
  not_found: { code: 'ResourceNotFound', type: 'NotFound' },
  method_not_allowed: { code: 'InvalidAction', type: 'BadRequest' },
  request_timeout: BAD_REQUEST,
  conflict: { code: 'InvalidAction', type: 'Conflict' },
  too_large: BAD_REQUEST,
  unsupported_media: BAD_REQUEST,
  idempotency_mismatch: BAD_REQUEST,
  upgrade_required: BAD_REQUEST,
  rate_limited: { code: 'AccountRateLimitExceeded', type: 'TooManyRequests' },
  headers_too_large: BAD_REQUEST,
  internal: INTERNAL,
  upstream_failed: INTERNAL,
  unavailable: { code: 'ServerOverloaded', type: 'TooManyRequests' },
}

/** Codes of the gateway that the native API has under another name. */
const CODES: Readonly<Record<string, string>> = {
  model_not_found: 'InvalidEndpointOrModel.NotFound',
  task_not_queued: 'InvalidAction.RunningTaskDeletion',
}
const REQUIRED = /: required\b/

/** `type` beside `error` is that of the error table, as in the flat form. */
export function renderNativeError(error: GatewayError, requestId: string): unknown {
  const { code, type } = ROWS[error.row]
  const { param } = error.details
  const isMissing = error.row === 'invalid_request' && REQUIRED.test(error.message)
  return {
    error: {
      code: nameCode(error.details.code) ?? (isMissing ? MISSING : code),
      message: `${asSentence(error.message)} Request id: ${requestId}`,
      param: param ?? '',
      type,
      ...billingOf(error),
    },
    type: ERRORS[error.row].type,
  }
}

/** Returns the members of a 402: what the call would have held, or the budget that it exceeds. */
export function billingOf({ details: { billing, budget } }: GatewayError) {
  return { ...(billing && { billing }), ...budget }
}

function asSentence(message: string): string {
  return /[.!?\u3002]$/.test(message) ? message : `${message}.`
}

function nameCode(code: string | undefined): string | undefined {
  return code !== undefined && Object.hasOwn(CODES, code) ? CODES[code] : code
}
