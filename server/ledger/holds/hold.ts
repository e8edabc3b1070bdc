/**
 * A hold: money reserved for one call. Only the ledger creates holds, and a connection to an
 * upstream requires one, so a call that bypasses billing neither compiles nor runs.
 */
import type { Nanos } from '../../lib/money.ts'
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

const open = new WeakSet<object>()

/** Turns a committed row into the token that opens connections. Called only by the ledger. */
export function admitHold(row: Omit<Hold, typeof genuine>): Hold {
  const hold = Object.freeze({ ...row }) as Hold
  open.add(hold)
  return hold
}

/** Prevents a closed hold from opening further connections. Called only by the ledger. */
export function retireHold(hold: Hold): void {
  open.delete(hold)
}

/** Returns true for a hold that this process took and has not closed. */
export function isOpenHold(hold: Hold): boolean {
  return open.has(hold)
}
