/**
 * Sends one request to a caller's URL: with one time limit, a limit on the body read, and no
 * redirects.
 */
import type { Dispatcher } from 'undici'
import type { AddressPolicy } from './address.ts'
import { openOutboundClient } from './connect.ts'
import { describeFailure, type OutboundFailure } from './describe-failure.ts'
import type { Resolve } from './resolve.ts'
import { type OutboundTarget, resolveOutboundTarget } from './target.ts'

export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
  /** From the name look-up to the response head, in milliseconds. */
  readonly budgetMs: number
  /** Time limit for the response body after its head, within the budget or beyond it. */
  readonly bodyMs: number
  /** The connection is closed once this much of the body was read. */
  readonly bodyBytesMax: number
  /** Aborts the request. */
  readonly signal?: AbortSignal
}

export type OutboundResult = (
  | {
      readonly outcome: 'answered'
      readonly status: number
      readonly headers: Dispatcher.ResponseData['headers']
      readonly body: Buffer
      /** True if the body was longer or slower than allowed, or was cut off. */
      readonly truncated: boolean
    }
  | OutboundFailure
) & {
  /** Until the response head, or until the failure. */
  readonly latencyMs: number
}

/** Sends the request. Never rejects: every failure is a result. */
export async function sendGuarded(
  request: OutboundRequest,
  policy: AddressPolicy,
  resolve: Resolve,
): Promise<OutboundResult> {
  const startedAt = performance.now()
  const latencyMs = () => Math.round(performance.now() - startedAt)
  const budget = AbortSignal.timeout(request.budgetMs)
  const signal = request.signal ? AbortSignal.any([budget, request.signal]) : budget
  const found = await resolveOutboundTarget(request.url, policy, resolve, signal)
  if ('refusal' in found) {
    return { outcome: 'refused', message: `the URL ${found.refusal}`, latencyMs: latencyMs() }
  }
  if ('unresolved' in found) {
    const outcome = abortReason(request, budget) ?? 'unresolved'
    return { outcome, message: found.unresolved, latencyMs: latencyMs() }
  }
  const client = openOutboundClient(found.target, policy, request.budgetMs)
  try {
    const answer = await client.request(toDispatch(request, found.target, signal))
    const headAt = latencyMs()
    const read = await readSome(answer.body, request)
    return { outcome: 'answered', ...pick(answer), ...read, latencyMs: headAt }
  } catch (error) {
    const stopped = request.signal?.aborted ?? false
    const cut = { stopped, timedOut: budget.aborted, budgetMs: request.budgetMs }
    return { ...describeFailure(error, cut), latencyMs: latencyMs() }
  } finally {
    await client.destroy().catch(() => undefined)
  }
}

function pick({ statusCode: status, headers }: Dispatcher.ResponseData) {
  return { status, headers }
}

function toDispatch(
  { method, headers, body }: OutboundRequest,
  { url }: OutboundTarget,
  signal: AbortSignal,
): Dispatcher.RequestOptions {
  const path = `${url.pathname}${url.search}`
  return { method, path, headers: { ...headers }, body: body ?? null, signal, blocking: false }
}

/** Reads up to the byte limit and for at most `bodyMs`; returns what was read by then. */
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

function abortReason(
  { signal }: OutboundRequest,
  budget: AbortSignal,
): 'stopped' | 'timeout' | undefined {
  if (signal?.aborted) return 'stopped'
  return budget.aborted ? 'timeout' : undefined
}
