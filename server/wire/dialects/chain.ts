/** Chains two relays: the output of the first is the input of the second. */
import type { Relay } from './relay.ts'

/**
 * Chains two relays like `chainRelays`, but returns the report of the first, which has read the
 * usage in the vendor's own terms. An error of the second is added to it.
 */
export function chainAfterReading(first: Relay, second: Relay): Relay {
  return {
    ...chainRelays(first, second),
    report() {
      const { error } = second.report()
      return { ...first.report(), ...(error ? { error } : {}) }
    },
  }
}

/** The report is that of the second, which has seen what the caller gets. */
export function chainRelays(first: Relay, second: Relay): Relay {
  return {
    push(chunk) {
      const out = first.push(chunk)
      return out && second.push(out)
    },
    end() {
      const out = first.end()
      const parts = [out && second.push(out), second.end()].filter((part) => part !== undefined)
      return parts.length > 0 ? Buffer.concat(parts) : undefined
    },
    fail: (failure) => second.fail(failure),
    report: () => second.report(),
    heldBytes: () => (first.heldBytes?.() ?? 0) + (second.heldBytes?.() ?? 0),
  }
}
