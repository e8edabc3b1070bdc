/** The running calls, so that a shutdown can wait for them, then end and settle the rest. */
import { Roster } from '../../../base/lib/queues/roster.ts'

export interface RunningCall {
  /** Ends the call now: the caller gets its dialect's error, and the delivered part is settled. */
  readonly abort: (reason: string) => void
}

export interface InFlight {
  add(call: RunningCall): () => void
  size(): number
  /** Resolves once no call is running, or after `timeoutMs`. */
  drained(timeoutMs: number): Promise<void>
  abortAll(reason: string): void
}

const POLL_INTERVAL_MS = 20

export function createInFlight(): InFlight {
  const calls = new Roster<RunningCall>()
  return {
    add: (call) => calls.add(call),
    size: () => calls.size,
    async drained(timeoutMs) {
      const deadline = performance.now() + timeoutMs
      while (calls.size > 0 && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS))
      }
    },
    abortAll(reason) {
      for (const call of calls.list()) call.abort(reason)
    },
  }
}
