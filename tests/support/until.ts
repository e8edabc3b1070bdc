/** The one wait of tests: for a state, with a deadline. */
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 10

/**
 * Calls `check` until it returns a value other than undefined and false, which it returns. Rejects
 * when none came within `timeoutMs`, and at once when `check` throws.
 */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 15_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = await check()
    if (value !== undefined && value !== false) return value
    if (performance.now() > deadline) throw new Error(`gave up waiting for ${what}`)
    await sleep(POLL_MS)
  }
}
