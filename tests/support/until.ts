/** The one wait of tests: for a state, with a deadline. */
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 10
/** Enough on a machine many times slower: what takes longer never comes. */
const PATIENCE_MS = 60_000

/**
 * Calls `check` until it returns a value other than undefined and false, which it returns. Rejects
 * when none came within `timeoutMs`, and at once when `check` throws.
 */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = await check()
    if (value !== undefined && value !== false) return value
    if (performance.now() > deadline) throw new Error(`gave up waiting for ${what}`)
    await sleep(POLL_MS)
  }
}

/** Calls `read` until `matches` accepts its value, which it returns. */
export async function untilValue<T>(
  read: () => Promise<T> | T,
  matches: (value: T) => boolean,
): Promise<T> {
  const { value } = await until(String(matches), async () => {
    const value = await read()
    return matches(value) && { value }
  })
  return value
}

/** Resolves as `work` does; rejects when that takes longer than `limitMs`. */
export async function within<T>(limitMs: number, what: string, work: Promise<T>): Promise<T> {
  const stopping = new AbortController()
  const limit = sleep(limitMs, undefined, { signal: stopping.signal }).then(() => {
    throw new Error(`no ${what} within ${limitMs} ms`)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    limit.catch(() => undefined)
    stopping.abort()
  }
}
