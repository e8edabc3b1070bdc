/**
 * Retries are at most a fifth of the calls under way (but always three): when an upstream fails
 * for everybody, trying everything again would only keep it down.
 */
export interface RetryBudget {
  /** True when another attempt may start; then `done` must be called at its end. */
  take(activeCalls: number): boolean
  done(): void
}

const SHARE = 0.2
const ALWAYS = 3

export function createRetryBudget(): RetryBudget {
  let retrying = 0
  return {
    take(activeCalls) {
      if (retrying >= Math.max(ALWAYS, activeCalls * SHARE)) return false
      retrying += 1
      return true
    },
    done() {
      retrying = Math.max(0, retrying - 1)
    },
  }
}
