/** Calls that arrive while the database is unavailable, for example while a replica takes over. */
import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { WhileAway } from '../services.ts'

const PAUSE_MS = 200

/**
 * Returns the function by which calls wait. `isUnavailable` returns true for an error after which
 * the same statement may succeed.
 */
export function createWhileAway(
  admitWaitMs: number,
  isUnavailable: (error: unknown) => boolean,
): WhileAway {
  /**
   * A statement that took too long has no cause and counts as unavailable; a full queue has a
   * different cause.
   */
  function isAway(error: unknown): boolean {
    if (!(error instanceof GatewayError)) return isUnavailable(error)
    const { cause } = error.details
    return error.row === 'unavailable' && (cause === undefined || isUnavailable(cause))
  }

  return async (request, attempt) => {
    const deadline = request.startedAt + admitWaitMs
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        const isOver = request.end !== undefined || performance.now() + PAUSE_MS > deadline
        if (isOver || !isAway(error)) throw error
      }
      await sleep(PAUSE_MS)
    }
  }
}
