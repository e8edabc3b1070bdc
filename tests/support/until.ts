/** The waits of tests: for a state, with a deadline, and for the end of a process. */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Each pause is a part of the time waited so far: short waits end soon, and long ones leave the
 * processor to what they wait for.
 */
const PAUSE = { part: 0.2, leastMs: 4, mostMs: 400 }
/** Enough on a machine many times slower: what takes longer never comes. */
const PATIENCE_MS = 180_000

/**
 * Calls `check` until it returns a value other than undefined and false, which it returns. Rejects
 * when none came within `timeoutMs`, and at once when `check` throws.
 */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const start = performance.now()
  while (true) {
    const value = await check()
    if (value !== undefined && value !== false) return value
    const waitedMs = performance.now() - start
    if (waitedMs > timeoutMs) throw new Error(`gave up waiting for ${what}`)
    await sleep(Math.min(Math.max(waitedMs * PAUSE.part, PAUSE.leastMs), PAUSE.mostMs))
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

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/**
 * Resolves once a process has ended and what it wrote has been read: its end may be seen first, and
 * its last words in the turn of the event loop after that.
 */
export function untilEnded(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      setImmediate(() => setImmediate(() => resolve({ code, signal })))
    })
  })
}
