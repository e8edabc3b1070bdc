/**
 * Slots that owners share fairly. The fuller the pool, the fewer slots an owner may hold and still
 * get another one: an owner with few slots is always admitted before one with many, without knowing
 * who else is there. Alone, an owner gets 75 % of the slots; two that want all of them get 41 %
 * each, ten get 9 %. Slots are never taken away: an owner over its share gets no more until the
 * others have theirs.
 *
 * An owner that has less than an even share is not refused while others fill the pool: it waits,
 * and of those that wait the one with the fewest slots gets the next.
 */
import { GatewayError } from '../errors.ts'

export interface FairSlots {
  /**
   * Takes a slot until the returned function is called; further calls of it do nothing. Waits for
   * one if the owner has less than an even share. Throws or rejects with 503 and the seconds to
   * wait if no slot is free, or if the free ones are left to other owners.
   */
  take(owner: string): Leave | Promise<Leave>
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
  /** With 0 a caller without a slot is refused immediately. */
  readonly waitMs?: number
}

type Leave = () => void

interface Waiter {
  readonly owner: string
  readonly timer: NodeJS.Timeout
  readonly enter: (leave: Leave) => void
}

/** The larger, the more slots one owner gets alone, and the fewer stay free for a newcomer. */
const EAGERNESS = 12
const WAIT_MS = 10_000

export function createFairSlots(options: FairSlotsOptions): FairSlots {
  return new Pool(options)
}

class Pool implements FairSlots {
  private readonly options: FairSlotsOptions
  private readonly byOwner = new Map<string, number>()
  /** In the order of their arrival, by owner. */
  private readonly waiting = new Map<string, Waiter[]>()
  private inUse = 0

  constructor(options: FairSlotsOptions) {
    this.options = options
  }

  take(owner: string): Leave | Promise<Leave> {
    const problem = this.problemOf(owner)
    if (problem === undefined) return this.enter(owner)
    const { waitMs = WAIT_MS } = this.options
    if (waitMs === 0 || !this.hasFew(owner)) throw this.busy(problem)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.forget(waiter)
        reject(this.busy(this.problemOf(owner) ?? problem))
      }, waitMs)
      const waiter: Waiter = { owner, timer, enter: resolve }
      const others = this.waiting.get(owner)
      if (others) others.push(waiter)
      else this.waiting.set(owner, [waiter])
    })
  }

  taken(): number {
    return this.inUse
  }

  owners(): number {
    return this.byOwner.size
  }

  /** Returns why the owner gets no slot now. */
  private problemOf(owner: string): string | undefined {
    const { slots, what } = this.options
    const free = slots - this.inUse
    if (free <= 0) return `all ${slots} ${what} that this gateway takes at once are running`
    const own = this.byOwner.get(owner) ?? 0
    if (own * slots < EAGERNESS * free * free) return undefined
    return `${own} ${what} of this account are running, its share while others want some`
  }

  /** An even share leaves room for one more owner, so a single owner never waits for itself. */
  private hasFew(owner: string): boolean {
    const own = this.byOwner.get(owner) ?? 0
    const owners = this.byOwner.size + (own > 0 ? 1 : 2)
    const waiting = this.waiting.get(owner)?.length ?? 0
    return (own + waiting) * owners < this.options.slots
  }

  private enter(owner: string): Leave {
    this.byOwner.set(owner, (this.byOwner.get(owner) ?? 0) + 1)
    this.inUse += 1
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      this.leave(owner)
    }
  }

  private leave(owner: string): void {
    this.inUse -= 1
    const remaining = (this.byOwner.get(owner) ?? 1) - 1
    if (remaining > 0) this.byOwner.set(owner, remaining)
    else this.byOwner.delete(owner)
    while (this.waiting.size > 0) {
      const next = this.findNext()
      if (!next || this.problemOf(next.owner) !== undefined) return
      this.forget(next)
      next.enter(this.enter(next.owner))
    }
  }

  /** Returns the first waiter of the owner with the fewest slots: if it gets none, none does. */
  private findNext(): Waiter | undefined {
    let next: Waiter | undefined
    let fewest = Infinity
    for (const [owner, [first]] of this.waiting) {
      const own = this.byOwner.get(owner) ?? 0
      if (!first || own >= fewest) continue
      next = first
      fewest = own
    }
    return next
  }

  private forget(waiter: Waiter): void {
    clearTimeout(waiter.timer)
    const others = this.waiting.get(waiter.owner)?.filter((other) => other !== waiter) ?? []
    if (others.length > 0) this.waiting.set(waiter.owner, others)
    else this.waiting.delete(waiter.owner)
  }

  private busy(problem: string): GatewayError {
    const { retryAfterSeconds } = this.options
    const message = `${problem}: try again when one of them has ended`
    return new GatewayError('unavailable', { message, retryAfterSeconds, cause: problem })
  }
}
