/**
 * Rate and concurrency limits of accounts, keys and models, where an operator set them. Kept in
 * this process: with several gateways on one database each takes its share of a limit.
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

/** Ends the admitted call's claim on its concurrency limits. */
export type Leave = () => void

export interface Limiter {
  /** Admits a call under all limits, or says after how many seconds to come back. */
  enter(limited: readonly Limited[]): Leave | { readonly retryAfterSeconds: number }
}

const MINUTE_MS = 60_000
/** The clock has fractions: sums that should be zero are only nearly so. */
const ROUNDING_MS = 0.5
/** Buckets that have been full again for a while are dropped when there are more than this. */
const BUCKETS_KEPT = 50_000

interface Bucket {
  /** When the bucket will have been empty again: the generic cell rate algorithm's one number. */
  emptyAtMs: number
}

/** `shares` is the number of processes that divide each limit among them; at least 1. */
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
    if (buckets.size > BUCKETS_KEPT) dropFull(now)
  }

  function dropFull(now: number): void {
    for (const [subject, bucket] of buckets) if (bucket.emptyAtMs <= now) buckets.delete(subject)
  }

  function isCrowded({ subject, limits }: Limited): boolean {
    const most = limits.concurrent_calls
    if (most === undefined) return false
    return (running.get(subject) ?? 0) >= Math.max(1, Math.floor(most / options.shares()))
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
      if (limited.some(isCrowded)) return { retryAfterSeconds: 1 }
      const counted = limited.filter((one) => one.limits.concurrent_calls !== undefined)
      for (const one of limited) take(one, now)
      for (const one of counted) count(one.subject, 1)
      let left = false
      return () => {
        if (left) return
        left = true
        for (const one of counted) count(one.subject, -1)
      }
    },
  }
}
