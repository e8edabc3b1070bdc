/** Tells the ways a statement can fail apart: the database is away, or the statement is refused. */

const CONNECTION_CODES = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'CONNECTION_CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EAGAIN',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
])

/**
 * SQLSTATEs: shut down or starting, cancelled, locked by somebody else, too many connections or
 * disk full, read-only, connection lost, input or output failed.
 */
const UNAVAILABLE_STATES = /^(57P0[1-5]|57014|55P03|53[0-9A-Z]{3}|25006|08[0-9A-Z]{3}|58030|XX000)$/

export function readErrorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}

/** True when the same statement may succeed later without any change. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnavailable)
  const code = readErrorCode(error)
  return CONNECTION_CODES.has(code) || UNAVAILABLE_STATES.test(code) || isSerialization(error)
}

/** A transaction lost a race and may simply be repeated. */
export function isSerialization(error: unknown): boolean {
  const code = readErrorCode(error)
  return code === '40001' || code === '40P01'
}

export function isUniqueViolation(error: unknown): boolean {
  return readErrorCode(error) === '23505'
}

/** True when somebody else held a lock for longer than the statement was ready to wait. */
export function isLocked(error: unknown): boolean {
  return readErrorCode(error) === '55P03'
}
