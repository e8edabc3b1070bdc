/** Describes failed requests to a caller's URL, in words for the owner of the URL. */

export interface OutboundFailure {
  readonly outcome: 'refused' | 'unresolved' | 'timeout' | 'failed' | 'stopped'
  readonly message: string
}

/** The reason why an exchange was cut short, if it was. */
export interface Cut {
  readonly stopped: boolean
  readonly timedOut: boolean
  readonly budgetMs: number
}

const MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  UND_ERR_SOCKET: 'the connection was closed before a response',
  UND_ERR_HEADERS_OVERFLOW: 'the response head is too large',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_BODY_TIMEOUT: 'the response stalled',
}

export function describeFailure(error: unknown, cut: Cut): OutboundFailure {
  if (cut.stopped) return { outcome: 'stopped', message: 'the sender stopped' }
  const code = codeOf(error)
  if (cut.timedOut || code === 'UND_ERR_HEADERS_TIMEOUT') {
    return { outcome: 'timeout', message: `no response within ${cut.budgetMs / 1000} seconds` }
  }
  return { outcome: 'failed', message: MESSAGES[code] ?? describeCode(code) }
}

/** Error codes of certificates are self-explanatory. */
function describeCode(code: string): string {
  if (/CERT|TLS|SSL|VERIFY|SELF_SIGNED/.test(code)) return `TLS failed (${code})`
  return code === '' ? 'the exchange failed' : `the exchange failed (${code})`
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : ''
}
