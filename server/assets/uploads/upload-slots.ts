/** How many uploads go on at once: each may have a part of its content in memory. */
import { GatewayError } from '../../lib/errors.ts'

export interface UploadSlots {
  /** Takes a slot until the returned function is called. Throws 429 or 503 when none is left. */
  take(accountId: string): () => void
}

const RETRY_SECONDS = 2

/** One account gets no more than half of them. */
export function createUploadSlots(most: number): UploadSlots {
  const mostEach = Math.ceil(most / 2)
  const taken = new Map<string, number>()
  let total = 0
  return {
    take(accountId) {
      const own = taken.get(accountId) ?? 0
      const retryAfterSeconds = RETRY_SECONDS
      if (own >= mostEach) {
        const message = `this account already has ${own} uploads under way here`
        throw new GatewayError('rate_limited', { message, retryAfterSeconds })
      }
      if (total >= most) throw new GatewayError('unavailable', { retryAfterSeconds })
      taken.set(accountId, own + 1)
      total += 1
      return () => {
        total -= 1
        const left = (taken.get(accountId) ?? 1) - 1
        if (left > 0) taken.set(accountId, left)
        else taken.delete(accountId)
      }
    },
  }
}
