/**
 * The error table: every error a caller can receive, with its status, `type` and public message.
 * The cause of an error is logged but never sent.
 */
export interface ErrorRow {
  readonly status: number
  readonly type: string
  readonly message: string
  /**
   * Tells SDKs, which retry 408, 409, 429 and 5xx by default, whether to retry. False: retrying the
   * same request cannot help, or might charge it twice. True: nothing was done. Absent: the status
   * decides.
   */
  readonly retry?: boolean
}

export const ERRORS = {
  invalid_request: { status: 400, type: 'invalid_request_error', message: 'invalid request' },
  model_required: {
    status: 400,
    type: 'invalid_request_error',
    message: 'model field is required',
  },
  unauthenticated: {
    status: 401,
    type: 'auth_error',
    message: 'invalid or missing API key',
    retry: false,
  },
  signed_out: {
    status: 401,
    type: 'auth_error',
    message: 'sign in first: the session is missing or has expired',
    retry: false,
  },
  insufficient_balance: {
    status: 402,
    type: 'billing_error',
    message: 'insufficient balance -- please top up or upgrade the service plan',
    retry: false,
  },
  forbidden: {
    status: 403,
    type: 'permission_error',
    message: 'this key is not permitted to do that',
  },
  step_up_required: {
    status: 403,
    type: 'step_up_required',
    message: 'confirm your identity: this action needs a recent sign-in',
  },
  second_factor_required: {
    status: 403,
    type: 'second_factor_required',
    message: 'set up an authenticator app or a passkey in your profile first',
  },
  not_found: { status: 404, type: 'not_found_error', message: 'not found' },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: 'method not allowed on this path',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    message: 'the request did not arrive in time',
  },
  conflict: { status: 409, type: 'conflict_error', message: 'conflict', retry: false },
  too_large: { status: 413, type: 'invalid_request_error', message: 'request body is too large' },
  unsupported_media: {
    status: 415,
    type: 'invalid_request_error',
    message: 'send the body as application/json',
  },
  idempotency_mismatch: {
    status: 422,
    type: 'invalid_request_error',
    message: 'this Idempotency-Key was used with another request',
  },
  upgrade_required: {
    status: 426,
    type: 'invalid_request_error',
    message: 'open a WebSocket here, or send a POST request',
  },
  rate_limited: {
    status: 429,
    type: 'rate_limit_error',
    message: 'rate limit exceeded',
    retry: true,
  },
  headers_too_large: {
    status: 431,
    type: 'invalid_request_error',
    message: 'request headers are too large',
  },
  // An internal fault: it is unknown how far the request got.
  internal: { status: 500, type: 'server_error', message: 'internal error', retry: false },
  upstream_failed: { status: 502, type: 'server_error', message: 'upstream provider error' },
  unavailable: {
    status: 503,
    type: 'server_error',
    message: 'the service is temporarily unavailable, please try again',
    retry: true,
  },
} as const satisfies Record<string, ErrorRow>

export type ErrorName = keyof typeof ERRORS

/** An invalid field of a request, and what is wrong with it. */
export interface FieldFault {
  readonly param: string
  readonly problem: string
}

/** Amounts are decimal strings. */
export interface BillingFacts {
  readonly required: string
  readonly available: string
  readonly debt: string
  readonly currency: string
}

export interface BudgetFacts {
  readonly budget_id: string
  /** When the budget resets; null for never. */
  readonly resets_at: string | null
}

export interface ErrorDetails {
  /** Replaces the table's message. Must be safe to show callers: no keys, hosts or stack traces. */
  readonly message?: string
  /** The invalid request field, for example `messages[2].content`. */
  readonly param?: string
  /** All invalid fields, where a form shows them together; the first is `param`. */
  readonly problems?: readonly FieldFault[]
  /** A machine-readable code, for example `context_length_exceeded`. */
  readonly code?: string
  readonly retryAfterSeconds?: number
  /** The sum that a call would have held, and the balance at that time. */
  readonly billing?: BillingFacts
  /** The budget that a call does not fit. */
  readonly budget?: BudgetFacts
  /** `details` of the nested form, by which SDKs correct the request themselves. */
  readonly forSdk?: Readonly<Record<string, unknown>>
  /** Replaces the table's `retry`; see ErrorRow. */
  readonly retry?: boolean
  /** The methods that the path supports. */
  readonly allow?: readonly string[]
  /** The content encodings that a body may have. */
  readonly acceptEncoding?: string
  /** Replaces the table's status; only for upstream errors that are passed through. */
  readonly status?: number
  /** The underlying error, for the log. */
  readonly cause?: unknown
}

/** An error with a row in the table; thrown anywhere, rendered in one place (http/reply). */
export class GatewayError extends Error {
  readonly row: ErrorName
  readonly details: ErrorDetails

  constructor(row: ErrorName, details: ErrorDetails = {}) {
    super(details.message ?? ERRORS[row].message, { cause: details.cause })
    this.name = 'GatewayError'
    this.row = row
    this.details = details
  }

  get status(): number {
    return this.details.status ?? ERRORS[this.row].status
  }

  /**
   * The name in logs and metrics, which distinguishes a used-up budget from an empty balance: both
   * are a 402.
   */
  get outcome(): ErrorName | 'budget_exceeded' {
    return this.details.budget ? 'budget_exceeded' : this.row
  }
}

/** Returns a 400 error that names the field. */
export function invalidField(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', { message: `${param}: ${problem}`, param })
}

/** Returns a 400 error that names every field; its message has a line for each. */
export function invalidFields(problems: readonly FieldFault[]): GatewayError {
  const message = problems.map(({ param, problem }) => `${param}: ${problem}`).join('\n')
  const [first] = problems
  return new GatewayError('invalid_request', {
    message,
    problems,
    ...(first ? { param: first.param } : {}),
  })
}
