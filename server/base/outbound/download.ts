/**
 * Downloads a URL as a stream: with the same checks as every other request, a time limit for the
 * response head, an idle limit for the body, and a few redirects, each checked anew.
 */
import type { Readable } from 'node:stream'
import type { AddressPolicy } from './address.ts'
import { openOutboundClient } from './connect.ts'
import { describeFailure, type OutboundFailure } from './describe-failure.ts'
import type { Resolve } from './resolve.ts'
import { type OutboundTarget, resolveOutboundTarget } from './target.ts'

export interface DownloadRequest {
  readonly url: string
  /** From the name look-up to the response head, for each redirect. */
  readonly headMs: number
  /** The longest idle time within the body. */
  readonly idleMs: number
  readonly signal: AbortSignal
}

export type Download =
  | {
      readonly outcome: 'answered'
      readonly status: number
      /** From Content-Length; undefined if absent. */
      readonly length: number | undefined
      readonly body: Readable
      /** Closes the connection, whether or not the body was read. */
      close(): Promise<void>
    }
  | OutboundFailure

const REDIRECTS_MAX = 3
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Never rejects; the body's stream may fail. The caller must close an answered download. */
export async function downloadGuarded(
  request: DownloadRequest,
  policy: AddressPolicy,
  resolve: Resolve,
): Promise<Download> {
  let url = request.url
  for (let redirects = 0; ; redirects += 1) {
    const exchange = await openOne({ ...request, url }, policy, resolve)
    if (exchange.outcome !== 'answered' || !REDIRECTS.has(exchange.status)) return exchange
    await exchange.close()
    const next = exchange.location === undefined ? undefined : followFrom(url, exchange.location)
    if (!next) return { outcome: 'failed', message: 'the redirect has no valid location' }
    if (redirects === REDIRECTS_MAX) return { outcome: 'failed', message: 'too many redirects' }
    url = next
  }
}

/** Returns the address of a redirect as it is written, since its spelling is checked as well. */
function followFrom(url: string, location: string): string | undefined {
  return URL.canParse(location) ? location : URL.parse(location, url)?.href
}

async function openOne(request: DownloadRequest, policy: AddressPolicy, resolve: Resolve) {
  const budget = new AbortController()
  const timer = setTimeout(() => budget.abort(), request.headMs)
  const signal = AbortSignal.any([budget.signal, request.signal])
  try {
    const found = await resolveOutboundTarget(request.url, policy, resolve, signal)
    if ('target' in found) return await ask(found.target, request, policy, signal)
    if ('refusal' in found) {
      return { outcome: 'refused', message: `the URL ${found.refusal}` } as const
    }
    return { outcome: 'unresolved', message: found.unresolved } as const
  } catch (error) {
    const stopped = request.signal.aborted
    const cut = { stopped, timedOut: budget.signal.aborted, budgetMs: request.headMs }
    return describeFailure(error, cut)
  } finally {
    clearTimeout(timer)
  }
}

async function ask(
  target: OutboundTarget,
  request: DownloadRequest,
  policy: AddressPolicy,
  signal: AbortSignal,
) {
  const client = openOutboundClient(target, policy, request.headMs)
  const close = () => client.destroy().catch(() => undefined)
  try {
    const { statusCode, headers, body } = await client.request({
      method: 'GET',
      path: `${target.url.pathname}${target.url.search}`,
      // Compressed bytes would be stored as they are.
      headers: { accept: '*/*', 'accept-encoding': 'identity' },
      bodyTimeout: request.idleMs,
      signal,
    })
    // A caller that closes early ignores the error.
    body.on('error', () => undefined)
    const { 'content-length': length, location } = headers
    return {
      outcome: 'answered',
      status: statusCode,
      length: typeof length === 'string' ? Number(length) : undefined,
      location: typeof location === 'string' ? location : undefined,
      body,
      close,
    } as const
  } catch (error) {
    await close()
    throw error
  }
}
