/** Distinguishes an unavailable database from a rejected statement. */

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
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
])

/** SQLSTATE of a replica that is asked to write. */
export const READ_ONLY = '25006'

/**
 * SQLSTATEs: shutting down or starting, cancelled, lock not available, too many connections or disk
 * full, read-only, connection lost, I/O error.
 */
const UNAVAILABLE_STATES = /^(57P0[1-5]|57014|55P03|53[0-9A-Z]{3}|25006|08[0-9A-Z]{3}|58030|XX000)$/

export function readErrorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}

/** Returns true if the same statement may succeed later without any change. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnavailable)
  const code = readErrorCode(error)
  return CONNECTION_CODES.has(code) || UNAVAILABLE_STATES.test(code) || isSerialization(error)
}

/** Returns true if this process has closed its connections. */
export function isOwnEnd(error: unknown): boolean {
  const code = readErrorCode(error)
  return code === 'CONNECTION_ENDED' || code === 'CONNECTION_DESTROYED'
}

/** Returns true if a transaction lost a race and may be repeated. */
export function isSerialization(error: unknown): boolean {
  const code = readErrorCode(error)
  return code === '40001' || code === '40P01'
}

export function isUniqueViolation(error: unknown): boolean {
  return readErrorCode(error) === '23505'
}

/** Returns true if a statement gave up waiting for a lock. */
export function isLocked(error: unknown): boolean {
  return readErrorCode(error) === '55P03'
}
