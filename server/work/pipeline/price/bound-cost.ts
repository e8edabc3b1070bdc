/** The ceiling of a cost that a vendor states. It is an amount, so no quantity bounds it. */
import { divideUp } from '../../../base/lib/money.ts'
import type { PriceEntry } from '../../../money/catalog/catalog.ts'
import { type Ceiling, maxOf } from './ceiling.ts'

/** Lower bound, 100 in any currency: a cost also has fees in it that the model has no price for. */
const COST_NANOS_MIN = 100_000_000_000n

/**
 * Returns the most that a vendor can plausibly state as the cost of a request: what the most usage
 * of it would cost at all other prices of the model together.
 */
export function boundCost(prices: readonly PriceEntry[], ceiling: Ceiling): number {
  let nanos = 0n
  for (const { unit, amountNanos, per } of prices) {
    if (unit === 'vendor_cost') continue
    nanos += divideUp(BigInt(Math.ceil(maxOf(unit, ceiling))) * amountNanos, BigInt(per))
  }
  return Number(nanos > COST_NANOS_MIN ? nanos : COST_NANOS_MIN)
}
