/** What went wrong on the way to a caller's URL, in words for the owner of the URL. */

export interface OutboundFailure {
  readonly outcome: 'refused' | 'unresolved' | 'timeout' | 'failed' | 'stopped'
  readonly message: string
}

/** Why an exchange was cut short, if it was. */
export interface Cut {
  readonly stopped: boolean
  readonly timedOut: boolean
  readonly budgetMs: number
}

const TROUBLES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  ETIMEDOUT: 'the connection was not made in time',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  UND_ERR_SOCKET: 'the connection was closed before an answer',
  UND_ERR_HEADERS_OVERFLOW: 'the head of the answer is too large',
  UND_ERR_CONNECT_TIMEOUT: 'the connection was not made in time',
  UND_ERR_BODY_TIMEOUT: 'the answer stopped',
}

export function describeFailure(error: unknown, cut: Cut): OutboundFailure {
  if (cut.stopped) return { outcome: 'stopped', message: 'the sender stopped' }
  const code = codeOf(error)
  if (cut.timedOut || code === 'UND_ERR_HEADERS_TIMEOUT') {
    return { outcome: 'timeout', message: `no answer within ${cut.budgetMs / 1000} seconds` }
  }
  return { outcome: 'failed', message: TROUBLES[code] ?? describeCode(code) }
}

/** OpenSSL's and Node's codes of certificates are words enough. */
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
