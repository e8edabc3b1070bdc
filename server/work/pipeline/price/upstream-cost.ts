/**
 * Computes the upstream cost of a call: the costs of the route that served it, applied to the same
 * quantities that the caller is charged for. Null is an unknown cost, which differs from zero.
 */

import type { Nanos } from '../../../base/lib/money.ts'
import { ALWAYS_STATED_UNITS, type Quantities, sideOf, type Unit } from '../../../base/lib/units.ts'
import type { Facts, PriceEntry, RouteCost } from '../../../money/catalog/catalog.ts'
import { countOnce, priceCharge } from '../../../money/catalog/price/price.ts'
import type { ModelPass, StatedCost } from '../../../wire/dialects/relay.ts'
import type { FailureKind } from '../../../wire/upstreams/failure.ts'
import type { Charge } from './charge.ts'

/** A higher cost (a million) can only result from absurd usage or a wrong catalog. */
const PLAUSIBLE_NANOS_MAX = 10n ** 15n

const NEVER_ABSENT: ReadonlySet<Unit> = new Set(ALWAYS_STATED_UNITS)

/** The version of a cost that the vendor stated for a route without costs. */
const STATED_VERSION = 0n

/** The upstream cost of one call, with the version of the costs that it was computed by. */
export interface UpstreamCost {
  readonly nanos: Nanos
  readonly version: bigint
  /** True if the vendor's own figure is absurd, or differs so much that a price must be missing. */
  readonly isFarFromUsage?: boolean
}

export interface UpstreamCostInput {
  readonly charge: Pick<Charge, 'nanos' | 'review'>
  /** The stated usage. */
  readonly usage: Quantities | undefined
  readonly passes?: readonly ModelPass[] | undefined
  /** The cost that the vendor stated. */
  readonly stated?: StatedCost | undefined
  /** Returns the most that the vendor can plausibly state for the request. */
  readonly mostStated: () => Nanos
  /** The account's currency. */
  readonly currency?: string
  readonly facts: Facts
  /** Price facts from the settings of the serving channel. */
  readonly channelFacts?: Facts
  /** Returns the quantities of units that were not stated. */
  readonly fallback: () => Quantities
}

/**
 * Returns the cost that the vendor stated in the account's currency, up to the most that is
 * plausible, or else computes it by the route's costs. Returns null if neither is known: the usage
 * is under review, or a unit that always costs is in neither the usage nor the fallback.
 */
export function computeUpstreamCost(
  cost: RouteCost | undefined,
  input: UpstreamCostInput,
): UpstreamCost | null {
  const computed = computeByUsage(cost, input)
  const { stated, currency } = input
  if (!stated || stated.nanos < 0n || stated.currency !== currency) return computed
  const most = input.mostStated()
  const isAbsurd = stated.nanos > most
  const nanos = isAbsurd ? most : stated.nanos
  const booked = plausibleCost(nanos, computed?.version ?? STATED_VERSION)
  const isFar = isAbsurd || (computed !== null && isFarFrom(stated.nanos, computed.nanos))
  return booked && isFar ? { ...booked, isFarFromUsage: true } : booked
}

/** Returns true for a difference of more than 1 %, which rounding does not explain. */
function isFarFrom(stated: Nanos, computed: Nanos): boolean {
  const apart = stated > computed ? stated - computed : computed - stated
  return apart * 100n > stated
}

function computeByUsage(
  cost: RouteCost | undefined,
  input: UpstreamCostInput,
): UpstreamCost | null {
  if (!cost || input.charge.review || input.charge.nanos === null) return null
  const { facts, channelFacts = facts, passes } = input
  const { entries, version } = cost
  const stated = countOnce(entries, input.usage ?? {})
  const quantities = isCovered(entries, stated) ? stated : complete(stated, input.fallback())
  if (!isCovered(entries, quantities)) return null
  const { totalNanos } = priceCharge(entries, quantities, facts, channelFacts, passes)
  return plausibleCost(totalNanos, version)
}

/** Adds guessed units of each side (input, output) of which nothing was stated. */
function complete(stated: Quantities, guess: Quantities): Quantities {
  const missing = Object.entries(guess).filter(([unit]) => !isSideStated(stated, unit as Unit))
  return { ...Object.fromEntries(missing), ...stated }
}

/** Returns the cost of a failed call: zero if its outcome is certain and the route has costs. */
export function costOfFailure(cost: RouteCost | undefined, kind: FailureKind): UpstreamCost | null {
  return cost && kind !== 'unknown' ? { nanos: 0n, version: cost.version } : null
}

/** Returns null for an implausible amount. */
export function plausibleCost(nanos: Nanos, version: bigint): UpstreamCost | null {
  return nanos <= PLAUSIBLE_NANOS_MAX ? { nanos, version } : null
}

/** Returns true if every unconditional cost of a never absent unit has its quantity. */
function isCovered(entries: readonly PriceEntry[], quantities: Quantities): boolean {
  return entries.every(
    ({ unit, when }) => when || !NEVER_ABSENT.has(unit) || isSideStated(quantities, unit),
  )
}

/**
 * Returns true if any unit of the same side was stated: a whole prompt may have come from a cache,
 * and output may consist of images.
 */
function isSideStated(quantities: Quantities, unit: Unit): boolean {
  return sideOf(unit).some((one) => quantities[one] !== undefined)
}
