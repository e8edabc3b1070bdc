/** Limits concurrent uploads, since each may buffer one part in memory. */
import { GatewayError } from '../../lib/errors.ts'

export interface UploadSlots {
  /** Takes a slot until the returned function is called. Throws 429 or 503 when none is free. */
  take(accountId: string): () => void
}

const RETRY_SECONDS = 2

/** One account gets at most half of the slots. */
export function createUploadSlots(slots: number): UploadSlots {
  const slotsPerAccount = Math.ceil(slots / 2)
  const takenByAccount = new Map<string, number>()
  let total = 0
  return {
    take(accountId) {
      const own = takenByAccount.get(accountId) ?? 0
      const retryAfterSeconds = RETRY_SECONDS
      if (own >= slotsPerAccount) {
        const message = `this account already has ${own} uploads under way here`
        throw new GatewayError('rate_limited', { message, retryAfterSeconds })
      }
      if (total >= slots) throw new GatewayError('unavailable', { retryAfterSeconds })
      takenByAccount.set(accountId, own + 1)
      total += 1
      return () => {
        total -= 1
        const remaining = (takenByAccount.get(accountId) ?? 1) - 1
        if (remaining > 0) takenByAccount.set(accountId, remaining)
        else takenByAccount.delete(accountId)
      }
    },
  }
}
