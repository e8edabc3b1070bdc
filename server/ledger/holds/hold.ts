/**
 * A hold: money frozen for one call. It comes only out of the ledger, and a wire to an upstream
 * opens only with one, so a call that bypasses billing neither compiles nor runs.
 */
import type { Nanos } from '../../lib/money.ts'

declare const genuine: unique symbol

export interface Hold {
  readonly id: string
  readonly requestId: string
  readonly accountId: string
  readonly amountNanos: Nanos
  readonly [genuine]: true
}

const open = new WeakSet<object>()

/** For the ledger alone: turns a committed row into the token that opens wires. */
export function admitHold(row: Omit<Hold, typeof genuine>): Hold {
  const hold = Object.freeze({ ...row }) as Hold
  open.add(hold)
  return hold
}

/** For the ledger alone: a closed hold opens no further wire. */
export function retireHold(hold: Hold): void {
  open.delete(hold)
}

/** True for a hold that this process took and has not closed. */
export function isOpenHold(hold: Hold): boolean {
  return open.has(hold)
}
