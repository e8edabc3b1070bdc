/**
 * Limits what all accounts together use of a scarce resource, such as bytes of memory. An account
 * may use a share of what is free, not of the total: the more is in use, the less it may add, so
 * that neither one account nor a few can take what all others need. Network switches limit their
 * queues with the same dynamic threshold. A part may be reserved for accounts that use little, so
 * that they find room at once whatever the others do.
 */

import { GatewayError } from '../errors.ts'

export interface FairShare {
  /** The most that one account may use, as a multiple of what is left free then. */
  readonly ofFree: number
  /**
   * An account that uses nothing may use everything that is free, for a single item that cannot be
   * split.
   */
  readonly takesOne?: boolean
  /** That single item may arrive in parts. */
  readonly inParts?: boolean
}

export interface KindUse {
  readonly kind: string
  readonly used: number
  /** Refusals because of the use of the account itself, and because of that of all others. */
  readonly refused: { readonly account: number; readonly all: number }
}

/** Accounts without use are dropped above this number, or twice those with use. */
const ACCOUNTS_KEPT = 10_000
/** An account counts as small while it uses at most this part of the reserve. */
const LITTLE = 1 / 16
/** Further ones are refused at once. */
const WAITING_MAX = 2_000
const RETRY_SECONDS = 2

/** The use of one account, by the index of the kind. */
type Uses = number[]

interface Waiter {
  readonly portion: Portion
  readonly amount: number
  readonly end: (isTaken: boolean) => void
}

export class Budget<Kind extends string = string> {
  readonly total: number
  private readonly reserved: number
  private readonly shares: readonly FairShare[]
  private readonly kinds: readonly Kind[]
  private readonly accounts = new Map<string, Uses>()
  private readonly byKind: number[]
  private readonly refused: { account: number; all: number }[]
  private inUse = 0
  private inHeap = 0
  private waiting: Waiter[] = []
  private isScheduled = false
  private accountsMax = ACCOUNTS_KEPT

  /** `reserved` is the part of the total for accounts that use little of a kind. */
  constructor(total: number, shares: Readonly<Record<Kind, FairShare>>, reserved = 0) {
    this.total = total
    this.reserved = reserved
    this.kinds = Object.keys(shares) as Kind[]
    this.shares = Object.values(shares)
    this.byKind = this.kinds.map(() => 0)
    this.refused = this.kinds.map(() => ({ account: 0, all: 0 }))
  }

  /** Returns a portion of zero; requests without an account share the one that is named ''. */
  portion(account: string, kind: Kind): Portion {
    let uses = this.accounts.get(account)
    if (!uses) {
      if (this.accounts.size >= this.accountsMax) this.dropUnused()
      uses = this.kinds.map(() => 0)
      this.accounts.set(account, uses)
    }
    return new Portion(this, uses, this.kinds.indexOf(kind))
  }

  usedInAll(): number {
    return this.inUse
  }

  /** Returns how much of it is in the engine's heap, as far as it was noted. */
  usedInHeap(): number {
    return this.inHeap
  }

  noteInHeap(amount: number): void {
    this.inHeap += amount
  }

  /** Returns what each kind uses, and how often more was refused to an account. */
  list(): readonly KindUse[] {
    return this.kinds.map((kind, place) => {
      const refused = { ...(this.refused[place] as KindUse['refused']) }
      return { kind, used: this.byKind[place] as number, refused }
    })
  }

  /**
   * Counts a refusal and returns it: a 429 if the account could not use this much more even if it
   * were alone, otherwise a 503. `message` tells the account what it has too much of.
   */
  refuse(uses: Uses, place: number, amount: number, message: string): GatewayError {
    const { ofFree } = this.shares[place] as FairShare
    const refused = this.refused[place] as { account: number; all: number }
    const retryAfterSeconds = RETRY_SECONDS
    if (
      (uses[place] as number) + amount <=
      (ofFree / (1 + ofFree)) * (this.total - this.reserved)
    ) {
      refused.all += 1
      const cause = `${this.kinds[place]}: ${this.inUse} of ${this.total} are in use`
      return new GatewayError('unavailable', { retryAfterSeconds, cause })
    }
    refused.account += 1
    return new GatewayError('rate_limited', { message, retryAfterSeconds })
  }

  /** Returns true if the account may use this much more for an item that already has `taken`. */
  fits(uses: Uses, place: number, amount: number, taken: number): boolean {
    const { ofFree, takesOne, inParts } = this.shares[place] as FairShare
    const own = uses[place] as number
    const besides = inParts ? own - taken : own
    const left = this.total - this.inUse - amount
    if (left >= 0 && own + amount <= this.reserved * LITTLE) return true
    const free = left - this.reserved
    return own + amount <= ofFree * free || (takesOne === true && besides === 0 && free >= 0)
  }

  add(uses: Uses, place: number, amount: number): void {
    uses[place] = (uses[place] as number) + amount
    this.byKind[place] = (this.byKind[place] as number) + amount
    this.inUse += amount
    if (amount < 0 && this.waiting.length > 0) this.schedule()
  }

  /** Queues behind those that already wait; items of one account stay in order. */
  wait(portion: Portion, amount: number, withinMs: number): Promise<boolean> {
    if (this.waiting.length >= WAITING_MAX) return Promise.resolve(false)
    return new Promise((resolve) => {
      const waiter = {
        portion,
        amount,
        end(isTaken: boolean) {
          clearTimeout(timer)
          resolve(isTaken)
        },
      }
      const timer = setTimeout(() => {
        this.waiting = this.waiting.filter((other) => other !== waiter)
        resolve(false)
      }, withinMs)
      this.waiting.push(waiter)
    })
  }

  private schedule(): void {
    if (this.isScheduled) return
    this.isScheduled = true
    setImmediate(() => this.serveWaiting())
  }

  private serveWaiting(): void {
    this.isScheduled = false
    const passed = new Set<Uses>()
    this.waiting = this.waiting.filter(({ portion, amount, end }) => {
      if (portion.isOver) {
        end(false)
        return false
      }
      const isServed = !passed.has(portion.uses) && portion.grow(amount)
      if (isServed) end(true)
      else passed.add(portion.uses)
      return !isServed
    })
  }

  private dropUnused(): void {
    for (const [account, uses] of this.accounts) {
      if (uses.every((use) => use === 0)) this.accounts.delete(account)
    }
    // Doubles the limit, so that accounts in use are not searched again for each further account.
    this.accountsMax = Math.max(ACCOUNTS_KEPT, 2 * this.accounts.size)
  }
}

/** The use of one request, answer or connection, given back by `release` in any case. */
export class Portion {
  readonly uses: Uses
  private readonly budget: Budget
  private readonly place: number
  private taken = 0
  private inHeap = 0
  private hasEnded = false

  constructor(budget: Budget, uses: Uses, place: number) {
    this.budget = budget
    this.uses = uses
    this.place = place
  }

  get amount(): number {
    return this.taken
  }

  get isOver(): boolean {
    return this.hasEnded
  }

  /** Takes more. Returns false, with nothing taken, if that is more than the account's share. */
  grow(amount: number): boolean {
    if (this.hasEnded || !this.budget.fits(this.uses, this.place, amount, this.taken)) return false
    this.force(amount)
    return true
  }

  /** Takes more once it fits. Resolves to false if it does not within the time. */
  growSoon(amount: number, withinMs: number): boolean | Promise<boolean> {
    return this.grow(amount) || (!this.hasEnded && this.budget.wait(this, amount, withinMs))
  }

  /** Takes more, even beyond the share: the memory is in use already. */
  force(amount: number): void {
    if (this.hasEnded) return
    this.taken += amount
    this.budget.add(this.uses, this.place, amount)
  }

  shrink(amount: number): void {
    this.force(-Math.min(amount, this.taken))
  }

  /** Notes how much of it is in the engine's heap: the rest is in buffers. */
  noteInHeap(amount: number): void {
    if (this.hasEnded) return
    this.inHeap += amount
    this.budget.noteInHeap(amount)
  }

  release(): void {
    if (this.taken !== 0) this.force(-this.taken)
    if (this.inHeap !== 0) this.noteInHeap(-this.inHeap)
  }

  /** Gives it back for good: whatever still waits for more of it gets nothing. */
  end(): void {
    this.release()
    this.hasEnded = true
  }

  /** Counts a refusal of so much more and returns it: see Budget. */
  refuse(amount: number, message: string): GatewayError {
    return this.budget.refuse(this.uses, this.place, amount, message)
  }
}
