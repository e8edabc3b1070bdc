/**
 * Resolves names by DNS only, without the thread pool that file access and password hashing use: a
 * slow name server must not delay anything else.
 */
import { Resolver } from 'node:dns/promises'

/** Returns all addresses of a name; rejects if there is none or no server responds. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>

const TRY_MS = 2_000
const TRIES = 2

export const resolveByDns: Resolve = async (host, signal) => {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
  const cancel = () => resolver.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    if (addresses.length > 0) return addresses
    throw new Error(`${host} has no address`, { cause: firstReason(answers) })
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

function firstReason(answers: readonly PromiseSettledResult<unknown>[]): unknown {
  const [first] = answers
  return first?.status === 'rejected' ? first.reason : undefined
}
