/** Resolves a caller's URL to the addresses that may be connected to. */
import { type AddressPolicy, judgeAddress } from './address.ts'
import { isLoopbackName, readUrl } from './read-url.ts'
import type { Resolve } from './resolve.ts'

export interface OutboundTarget {
  readonly url: URL
  readonly port: number
  /** Checked; at least one. */
  readonly addresses: readonly string[]
}

export type FoundTarget =
  | { readonly target: OutboundTarget }
  /** The URL must not be used; the reason may be shown to its owner. */
  | { readonly refusal: string }
  /** The host does not resolve now; this may change. */
  | { readonly unresolved: string }

const LOOPBACK = ['127.0.0.1', '::1']

/**
 * Resolves a URL's host once. One forbidden address refuses the URL, since any of them might be
 * connected to.
 */
export async function resolveOutboundTarget(
  text: string,
  policy: AddressPolicy,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<FoundTarget> {
  const read = readUrl(text, policy)
  if ('refusal' in read) return read
  const { url, host, port, isLiteral } = read
  if (isLiteral) return { target: { url, port, addresses: [host] } }
  const addresses = isLoopbackName(host) ? LOOPBACK : await tryResolve(host, resolve, signal)
  if (typeof addresses === 'string') return { unresolved: addresses }
  for (const address of addresses) {
    const refusal = judgeAddress(address, port, policy)
    if (refusal !== undefined) return { refusal }
  }
  return { target: { url, port, addresses } }
}

async function tryResolve(
  host: string,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<readonly string[] | string> {
  try {
    const addresses = await orAborted(resolve(host, signal), signal)
    return addresses.length > 0 ? addresses : 'the host has no address'
  } catch {
    return signal.aborted ? 'the host was not resolved in time' : 'the host does not resolve'
  }
}

/** Also stops waiting for a resolver that ignores its signal. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((fulfil, reject) => {
    const abort = () => reject(new Error('aborted'))
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(fulfil, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
