/**
 * Limits retries to a fifth of the running calls, but always allows three: if an upstream fails for
 * everybody, unlimited retries would prevent its recovery.
 */
export interface RetryBudget {
  /** Returns true if another attempt may start; `done` must then be called at its end. */
  take(activeCalls: number): boolean
  done(): void
}

const RETRY_SHARE = 0.2
const RETRIES_ALWAYS = 3

export function createRetryBudget(): RetryBudget {
  let retrying = 0
  return {
    take(activeCalls) {
      if (retrying >= Math.max(RETRIES_ALWAYS, activeCalls * RETRY_SHARE)) return false
      retrying += 1
      return true
    },
    done() {
      retrying = Math.max(0, retrying - 1)
    },
  }
}
