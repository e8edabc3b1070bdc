/**
 * Rate limits of this process alone, for what has no account. Limits of accounts, keys and models
 * are decided in the database, with the hold.
 */
export interface Limiter {
  /** Admits a request of `subject`: returns 0, or the seconds until a retry may succeed. */
  enter(subject: string, perMinute: number): number
}

const MINUTE_MS = 60_000
/** Tolerance for rounding errors of the clock's fractions. */
const ROUNDING_MS = 0.5
/** Above this number of buckets, those that are empty are dropped. */
const BUCKETS_KEPT = 50_000

export function createLimiter(nowMs: () => number): Limiter {
  /** The time at which each bucket is empty (the generic cell rate algorithm). */
  const emptyAtMs = new Map<string, number>()

  function dropEmpty(now: number): void {
    for (const [subject, emptyAt] of emptyAtMs) if (emptyAt <= now) emptyAtMs.delete(subject)
  }

  return {
    enter(subject, perMinute) {
      const now = nowMs()
      const next = Math.max(emptyAtMs.get(subject) ?? 0, now) + MINUTE_MS / perMinute
      const waitMs = next - now - MINUTE_MS
      if (waitMs > ROUNDING_MS) return Math.ceil(waitMs / 1000)
      emptyAtMs.set(subject, next)
      if (emptyAtMs.size > BUCKETS_KEPT) dropEmpty(now)
      return 0
    },
  }
}
