/**
 * The database's clock as this process knows it: learned from each renewal of the lease, carried on
 * by a clock that nobody sets. Deadlines are told in it, so that no two clocks have to agree.
 */
export interface DatabaseClock {
  /** `at` was read by the database between the two times of our own, in milliseconds. */
  note(at: Date, askedMs: number, answeredMs: number): void
  /** The database's time now; undefined before it was ever read. */
  now(): Date | undefined
}

/** A slower answer says too little about when the clock was read. */
const ROUND_TRIP_MS_MAX = 1_000

export function createDatabaseClock(nowMs: () => number): DatabaseClock {
  let aheadMs: number | undefined
  return {
    note(at, askedMs, answeredMs) {
      if (answeredMs - askedMs > ROUND_TRIP_MS_MAX && aheadMs !== undefined) return
      aheadMs = at.getTime() - (askedMs + answeredMs) / 2
    },
    now: () => (aheadMs === undefined ? undefined : new Date(nowMs() + aheadMs)),
  }
}
