/**
 * What the upstream takes for a call: by the costs of the route that served it, from the very
 * quantities that the caller is charged for. Null is unknown, which is never the same as nothing.
 */
import type { Facts, PriceEntry, RouteCost } from '../catalog/catalog.ts'
import { priceCharge } from '../catalog/price.ts'
import type { Nanos } from '../lib/money.ts'
import type { Quantities, Unit } from '../lib/units.ts'
import type { FailureKind } from '../upstreams/failure.ts'
import type { Charge } from './charge.ts'
import { countOnce } from './held.ts'

/** No call costs a million; such a figure comes of absurd usage or of a wrong catalog. */
const BELIEVED_NANOS_MAX = 10n ** 15n

/** Upstreams do not mention what they have none of. */
const MAY_BE_ABSENT: readonly Unit[] = ['cached_input_token', 'cache_write_token']

/** The cost of one call as it is kept, with the version of the costs it was computed by. */
export interface CallCost {
  readonly nanos: Nanos
  readonly version: bigint
}

export interface CostInput {
  readonly charge: Pick<Charge, 'nanos' | 'review'>
  /** What the upstream stated. */
  readonly usage: Quantities | undefined
  readonly facts: Facts
  /** What stands in for what it did not state. */
  readonly fallback: () => Quantities
}

/**
 * The cost of what was delivered. Null when the route's costs are not known, when the usage was
 * not believed, or when a unit that always costs is in neither usage nor fallback.
 */
export function computeCost(cost: RouteCost | undefined, input: CostInput): CallCost | null {
  if (!cost || input.charge.review || input.charge.nanos === null) return null
  const { entries, version } = cost
  const stated = { ...countOnce(entries), ...input.usage }
  const quantities = isWhole(entries, stated) ? stated : { ...input.fallback(), ...stated }
  if (!isWhole(entries, quantities)) return null
  return believe(priceCharge(entries, quantities, input.facts, input.facts).totalNanos, version)
}

/** What a call costs that no upstream carried out: nothing, where that is certain. */
export function costOfRefusal(cost: RouteCost | undefined, kind: FailureKind): CallCost | null {
  return cost && kind !== 'unknown' ? { nanos: 0n, version: cost.version } : null
}

export function believe(nanos: Nanos, version: bigint): CallCost | null {
  return nanos <= BELIEVED_NANOS_MAX ? { nanos, version } : null
}

/** Whether there is a figure for every unit that costs whatever the circumstances. */
function isWhole(entries: readonly PriceEntry[], quantities: Quantities): boolean {
  return entries.every(
    ({ unit, when }) => when || quantities[unit] !== undefined || MAY_BE_ABSENT.includes(unit),
  )
}
