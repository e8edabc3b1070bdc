/**
 * A hold: money reserved for one call. Only the ledger creates holds, and a connection to an
 * upstream requires one, so a call that bypasses billing neither compiles nor runs.
 */
import type { Nanos } from '../../../base/lib/money.ts'
import type { HoldLimits } from '../hold-limits.ts'

declare const genuine: unique symbol

export interface Hold {
  readonly id: string
  readonly requestId: string
  readonly accountId: string
  readonly amountNanos: Nanos
  readonly limits?: HoldLimits | undefined
  readonly [genuine]: true
}

type Row = Omit<Hold, typeof genuine>

/** Its private member cannot be forged. */
class TakenHold implements Row {
  readonly id: string
  readonly requestId: string
  readonly accountId: string
  readonly amountNanos: Nanos
  readonly limits: HoldLimits | undefined
  #isOpen = true

  constructor({ id, requestId, accountId, amountNanos, limits }: Row) {
    this.id = id
    this.requestId = requestId
    this.accountId = accountId
    this.amountNanos = amountNanos
    this.limits = limits
  }

  static retire(hold: object): void {
    if (#isOpen in hold) hold.#isOpen = false
  }

  static isOpen(hold: object): boolean {
    return #isOpen in hold && hold.#isOpen
  }
}

/** Turns a committed row into the token that opens connections. Called only by the ledger. */
export function admitHold(row: Row): Hold {
  return new TakenHold(row) as Row as Hold
}

/** Prevents a closed hold from opening further connections. Called only by the ledger. */
export function retireHold(hold: Hold): void {
  TakenHold.retire(hold)
}

/** Returns true for a hold that this process took and has not closed. */
export function isOpenHold(hold: Hold): boolean {
  return TakenHold.isOpen(hold)
}
