/**
 * Estimates the database's clock: sampled at each renewal of the lease and extrapolated with a
 * monotonic clock. Deadlines use this time, so that clocks need not agree.
 */
export interface DatabaseClock {
  /** Takes a sample: `at` is the database's time, read between the two local times. */
  sample(at: Date, sentMs: number, receivedMs: number): void
  /** Returns the estimated database time, or undefined before the first sample. */
  now(): Date | undefined
  /** Returns the milliseconds by which it is ahead of the local one; 0 before the first sample. */
  aheadMs(): number
}

/** A slower response is too imprecise a sample. */
const ROUND_TRIP_MS_MAX = 1_000

export function createDatabaseClock(nowMs: () => number): DatabaseClock {
  let aheadMs: number | undefined
  return {
    sample(at, sentMs, receivedMs) {
      if (receivedMs - sentMs > ROUND_TRIP_MS_MAX && aheadMs !== undefined) return
      aheadMs = at.getTime() - (sentMs + receivedMs) / 2
    },
    now: () => (aheadMs === undefined ? undefined : new Date(nowMs() + aheadMs)),
    aheadMs: () => aheadMs ?? 0,
  }
}

/**
 * Returns the milliseconds by which a clock was set, negative if back. It was `expected` at the
 * question, answered after `tookMs`, and read at any time between.
 */
export function measureStep(at: Date, expected: Date, tookMs: number): number {
  const aheadMs = at.getTime() - expected.getTime()
  return aheadMs < 0 ? aheadMs : Math.max(0, aheadMs - tookMs)
}
