/** One request to a caller's URL: one budget for all of it, a cap on what is read, no redirects. */
import type { Dispatcher } from 'undici'
import type { AddressPolicy } from './address.ts'
import { openClient } from './connect.ts'
import type { Resolve } from './resolve.ts'
import { findTarget, type Target } from './target.ts'

export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
  /** From the look-up of the name to the head of the answer. */
  readonly budgetMs: number
  /** How long the body of the answer may take after its head, within the budget or beyond it. */
  readonly bodyMs: number
  /** The connection is closed once this much of the body was read. */
  readonly bodyBytesMax: number
  /** Ends it early. */
  readonly signal?: AbortSignal
}

export type OutboundResult = (
  | {
      readonly outcome: 'answered'
      readonly status: number
      readonly headers: Dispatcher.ResponseData['headers']
      readonly body: Buffer
      /** True when the body was longer or slower than allowed, or broke off. */
      readonly truncated: boolean
    }
  /** `message` is fit for the owner of the URL. */
  | {
      readonly outcome: 'refused' | 'unresolved' | 'timeout' | 'failed' | 'stopped'
      readonly message: string
    }
) & {
  /** To the head of the answer, or to the end. */
  readonly latencyMs: number
}

/** What happened to the connection, in words for the owner of the receiver. */
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
}

/** Sends it. Never rejects: everything that can happen is a result. */
export async function sendGuarded(
  request: OutboundRequest,
  policy: AddressPolicy,
  resolve: Resolve,
): Promise<OutboundResult> {
  const startedAt = performance.now()
  const latencyMs = () => Math.round(performance.now() - startedAt)
  const budget = AbortSignal.timeout(request.budgetMs)
  const signal = request.signal ? AbortSignal.any([budget, request.signal]) : budget
  const found = await findTarget(request.url, policy, resolve, signal)
  if ('refusal' in found) {
    return { outcome: 'refused', message: `the URL ${found.refusal}`, latencyMs: latencyMs() }
  }
  if ('unresolved' in found) {
    const outcome = whyAborted(request, budget) ?? 'unresolved'
    return { outcome, message: found.unresolved, latencyMs: latencyMs() }
  }
  const client = openClient(found.target, policy, request.budgetMs)
  try {
    const answer = await client.request(toDispatch(request, found.target, signal))
    const headAt = latencyMs()
    const read = await readSome(answer.body, request)
    return { outcome: 'answered', ...pick(answer), ...read, latencyMs: headAt }
  } catch (error) {
    return { ...describeFailure(error, request, budget), latencyMs: latencyMs() }
  } finally {
    await client.destroy().catch(() => undefined)
  }
}

function pick({ statusCode: status, headers }: Dispatcher.ResponseData) {
  return { status, headers }
}

function toDispatch(
  { method, headers, body }: OutboundRequest,
  { url }: Target,
  signal: AbortSignal,
): Dispatcher.RequestOptions {
  const path = `${url.pathname}${url.search}`
  return { method, path, headers: { ...headers }, body: body ?? null, signal, blocking: false }
}

/** Reads up to the cap, and no longer than `bodyMs`; what was read so far is kept either way. */
async function readSome(
  body: Dispatcher.ResponseData['body'],
  { bodyMs, bodyBytesMax }: OutboundRequest,
): Promise<{ readonly body: Buffer; readonly truncated: boolean }> {
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(() => body.destroy(), bodyMs)
  try {
    for await (const chunk of body) {
      const piece: Buffer = Buffer.from(chunk)
      chunks.push(piece.subarray(0, bodyBytesMax - bytes))
      bytes += piece.length
      if (bytes > bodyBytesMax) break
    }
    const truncated = bytes > bodyBytesMax || body.readableAborted
    return { body: Buffer.concat(chunks), truncated }
  } catch {
    return { body: Buffer.concat(chunks), truncated: true }
  } finally {
    clearTimeout(timer)
    body.destroy()
    body.on('error', () => undefined)
  }
}

function whyAborted(
  { signal }: OutboundRequest,
  budget: AbortSignal,
): 'stopped' | 'timeout' | undefined {
  if (signal?.aborted) return 'stopped'
  return budget.aborted ? 'timeout' : undefined
}

function describeFailure(error: unknown, request: OutboundRequest, budget: AbortSignal) {
  const why = whyAborted(request, budget)
  if (why === 'stopped') return { outcome: why, message: 'the sender stopped' } as const
  const code = codeOf(error)
  if (why === 'timeout' || code === 'UND_ERR_HEADERS_TIMEOUT') {
    const seconds = request.budgetMs / 1000
    return { outcome: 'timeout', message: `no answer within ${seconds} seconds` } as const
  }
  return { outcome: 'failed', message: TROUBLES[code] ?? describeCode(code) } as const
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
