// The response form of the services for recordings: HTTP 200, and the outcome in two headers.
import { type Exchange, type Failure, Refused, type WholeReply, whole } from '../kernel/exchange.ts'
import { speechFailure } from '../openspeech/errors.ts'

export const OK = 20000000
export const RUNNING = 20000001
export const QUEUED = 20000002
export const SILENT = 20000003
const INVALID = 45000001
export const EMPTY = 45000002
export const UNSUPPORTED_FORMAT = 45000151

const MESSAGES: Record<number, string> = {
  [OK]: 'OK',
  [RUNNING]: 'Processing',
  [QUEUED]: 'In Queue',
  [SILENT]: 'no valid speech in audio',
  [EMPTY]: 'Empty audio',
  [UNSUPPORTED_FORMAT]: 'Invalid audio format',
  55000031: 'server busy',
}

export function outcome(code: number, body: unknown = {}, message = MESSAGES[code]): WholeReply {
  const headers = {
    'X-Api-Status-Code': String(code),
    'X-Api-Message': message ?? (code < 50_000_000 ? 'invalid parameter' : 'internal error'),
  }
  return whole(200, body, { headers })
}

export const refused = (message: string, code = INVALID): Refused =>
  new Refused({ status: 200, code: String(code), message })

/** The product refuses in headers, its gateway by HTTP status. */
export function recordingFailure(exchange: Exchange, failure: Failure): WholeReply {
  if (failure.status !== 200 && !exchange.scenario.has('error-200')) {
    return speechFailure(exchange, failure)
  }
  const code = Number(failure.code ?? 55000000)
  const reply = outcome(code, {}, failure.message ?? MESSAGES[code])
  return { ...reply, reason: failure.message ?? String(code) }
}

/** Requires the service's own resource. */
export function checkResource(exchange: Exchange, allowed: string[]): void {
  const resource = String(exchange.request.headers['x-api-resource-id'])
  if (allowed.includes(resource)) return
  const message = `[resource_id=${resource}] requested resource not granted`
  throw new Refused({ status: 403, code: '45000030', message })
}
