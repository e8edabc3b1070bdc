/**
 * Slots that owners share fairly. The fuller the pool, the fewer slots may one owner have to get
 * another: an owner with few is always admitted before one with many, without a word about who is
 * there. Alone, an owner gets 75 % of the slots; two that want all of them get 41 % each, ten get
 * 9 %. What an owner already has is never taken away: it gets no more until the others' shares
 * are free.
 */
import { GatewayError } from '../errors.ts'

export interface FairSlots {
  /**
   * Takes a slot until the returned function is called; further calls of it do nothing. Throws 503
   * with the seconds to wait if no slot is free, or if the free ones are left to other owners.
   */
  take(owner: string): () => void
  /** Returns the number of slots that are taken. */
  taken(): number
  /** Returns the number of owners that have slots. */
  owners(): number
}

export interface FairSlotsOptions {
  readonly slots: number
  /** Names what takes a slot, in the plural. */
  readonly what: string
  readonly retryAfterSeconds: number
}

/** The larger, the more slots one owner gets alone, and the fewer stay free for a newcomer. */
const EAGERNESS = 12

export function createFairSlots({ slots, what, retryAfterSeconds }: FairSlotsOptions): FairSlots {
  const byOwner = new Map<string, number>()
  let taken = 0

  function leave(owner: string): void {
    taken -= 1
    const remaining = (byOwner.get(owner) ?? 1) - 1
    if (remaining > 0) byOwner.set(owner, remaining)
    else byOwner.delete(owner)
  }

  return {
    take(owner) {
      const free = slots - taken
      if (free <= 0) throw busy(`all ${slots} ${what} that this gateway takes at once are running`)
      const own = byOwner.get(owner) ?? 0
      if (own * slots >= EAGERNESS * free * free) {
        throw busy(`${own} ${what} of this account are running, its share while others want some`)
      }
      byOwner.set(owner, own + 1)
      taken += 1
      let hasLeft = false
      return () => {
        if (hasLeft) return
        hasLeft = true
        leave(owner)
      }
    },
    taken: () => taken,
    owners: () => byOwner.size,
  }

  function busy(problem: string): GatewayError {
    const message = `${problem}: try again when one of them has ended`
    return new GatewayError('unavailable', { message, retryAfterSeconds, cause: problem })
  }
}
