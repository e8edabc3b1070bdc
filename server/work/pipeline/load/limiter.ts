/**
 * Rate limits within this process, for requests without an account. Limits of accounts, keys and
 * models are decided in the database, with the hold.
 */
export interface Limiter {
  /** Admits a request of `subject`: returns 0, or the seconds until a retry may succeed. */
  enter(subject: string, perMinute: number): number
  /** Returns 0 while `subject` is within its limit, or the seconds until it is again. */
  wait(subject: string, perMinute: number): number
  /**
   * Counts events that have already happened, even beyond the limit, but at most two minutes'
   * worth.
   */
  add(subject: string, perMinute: number, units: number): void
}

const MINUTE_MS = 60_000
/** Tolerance for rounding errors of the clock's fractions. */
const ROUNDING_MS = 0.5
/** Up to this number of buckets, those that are empty are kept. */
const BUCKETS_KEPT = 50_000

export function createLimiter(nowMs: () => number): Limiter {
  /** The time at which each bucket is empty (the generic cell rate algorithm). */
  const emptyAtMs = new Map<string, number>()
  let dropAbove = BUCKETS_KEPT

  /** Doubles the limit, so that the cost per new bucket stays the same. */
  function dropEmpty(now: number): void {
    for (const [subject, emptyAt] of emptyAtMs) if (emptyAt <= now) emptyAtMs.delete(subject)
    dropAbove = Math.max(BUCKETS_KEPT, 2 * emptyAtMs.size)
  }

  function fill(subject: string, emptyAt: number, now: number): void {
    emptyAtMs.set(subject, emptyAt)
    if (emptyAtMs.size > dropAbove) dropEmpty(now)
  }

  return {
    enter(subject, perMinute) {
      const now = nowMs()
      const next = Math.max(emptyAtMs.get(subject) ?? 0, now) + MINUTE_MS / perMinute
      const waitMs = next - now - MINUTE_MS
      if (waitMs > ROUNDING_MS) return Math.ceil(waitMs / 1000)
      fill(subject, next, now)
      return 0
    },
    wait(subject, perMinute) {
      const emptyAt = emptyAtMs.get(subject)
      if (emptyAt === undefined) return 0
      const waitMs = emptyAt + MINUTE_MS / perMinute - nowMs() - MINUTE_MS
      return waitMs > ROUNDING_MS ? Math.ceil(waitMs / 1000) : 0
    },
    add(subject, perMinute, units) {
      const now = nowMs()
      const emptyAt = Math.max(emptyAtMs.get(subject) ?? 0, now) + (units * MINUTE_MS) / perMinute
      fill(subject, Math.min(emptyAt, now + 2 * MINUTE_MS), now)
    },
  }
}
