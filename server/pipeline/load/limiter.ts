/**
 * Rate and concurrency limits of accounts, keys and models, as set by operators. Counted in this
 * process: of several gateways on one database, each enforces its share of a limit.
 */
export interface RateLimits {
  readonly requests_per_minute?: number
  readonly concurrent_calls?: number
}

export interface Limited {
  /** `account:…`, `key:…` or `model:…`. */
  readonly subject: string
  readonly limits: RateLimits
}

/** Frees the concurrency slots of an admitted call. */
export type Leave = () => void

export interface Limiter {
  /** Admits a call under all limits, or returns the seconds until a retry may succeed. */
  enter(limited: readonly Limited[]): Leave | { readonly retryAfterSeconds: number }
}

const MINUTE_MS = 60_000
/** Tolerance for rounding errors of the clock's fractions. */
const ROUNDING_MS = 0.5
/** Above this number of buckets, those that are empty are dropped. */
const BUCKETS_KEPT = 50_000

interface Bucket {
  /** The time at which the bucket is empty (the generic cell rate algorithm). */
  emptyAtMs: number
}

/** `shares` returns the number of processes that share each limit; at least 1. */
export function createLimiter(options: {
  readonly nowMs: () => number
  readonly shares: () => number
}): Limiter {
  const buckets = new Map<string, Bucket>()
  const running = new Map<string, number>()

  function waitMs({ subject, limits }: Limited, now: number): number {
    const perMinute = limits.requests_per_minute
    if (perMinute === undefined) return 0
    const share = Math.max(1, perMinute / options.shares())
    const emptyAt = Math.max(buckets.get(subject)?.emptyAtMs ?? 0, now)
    return emptyAt + MINUTE_MS / share - now - MINUTE_MS
  }

  function take({ subject, limits }: Limited, now: number): void {
    const perMinute = limits.requests_per_minute
    if (perMinute === undefined) return
    const share = Math.max(1, perMinute / options.shares())
    const emptyAt = Math.max(buckets.get(subject)?.emptyAtMs ?? 0, now)
    buckets.set(subject, { emptyAtMs: emptyAt + MINUTE_MS / share })
    if (buckets.size > BUCKETS_KEPT) dropEmpty(now)
  }

  function dropEmpty(now: number): void {
    for (const [subject, bucket] of buckets) if (bucket.emptyAtMs <= now) buckets.delete(subject)
  }

  function isFull({ subject, limits }: Limited): boolean {
    const max = limits.concurrent_calls
    if (max === undefined) return false
    return (running.get(subject) ?? 0) >= Math.max(1, Math.floor(max / options.shares()))
  }

  function count(subject: string, change: 1 | -1): void {
    const next = (running.get(subject) ?? 0) + change
    if (next > 0) running.set(subject, next)
    else running.delete(subject)
  }

  return {
    enter(limited) {
      const now = options.nowMs()
      const wait = Math.max(0, ...limited.map((one) => waitMs(one, now)))
      if (wait > ROUNDING_MS) return { retryAfterSeconds: Math.ceil(wait / 1000) }
      if (limited.some(isFull)) return { retryAfterSeconds: 1 }
      const counted = limited.filter((one) => one.limits.concurrent_calls !== undefined)
      for (const one of limited) take(one, now)
      for (const one of counted) count(one.subject, 1)
      let hasLeft = false
      return () => {
        if (hasLeft) return
        hasLeft = true
        for (const one of counted) count(one.subject, -1)
      }
    },
  }
}
