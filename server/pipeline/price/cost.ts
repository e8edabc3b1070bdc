/**
 * What the upstream takes for a call: by the costs of the route that served it, from the very
 * quantities that the caller is charged for. Null is unknown, which is never the same as nothing.
 */
import type { Facts, PriceEntry, RouteCost } from '../../catalog/catalog.ts'
import { countOnce, priceCharge } from '../../catalog/price/price.ts'
import type { ModelPass, StatedCost } from '../../dialects/relay.ts'
import type { Nanos } from '../../lib/money.ts'
import { type Quantities, sideOf, type Unit } from '../../lib/units.ts'
import type { FailureKind } from '../../upstreams/failure.ts'
import type { Charge } from './charge.ts'

/** No call costs a million; such a figure comes of absurd usage or of a wrong catalog. */
const BELIEVED_NANOS_MAX = 10n ** 15n

/** What every call has some of; upstreams do not mention what they have none of. */
const NEVER_ABSENT: ReadonlySet<Unit> = new Set([
  ...(['input_token', 'output_token', 'audio_input_token', 'image_output_token'] as const),
  ...(['character', 'second', 'image', 'call', 'task'] as const),
])

/** The version of a cost that the vendor stated where no costs of the route are known. */
const STATED_VERSION = 0n

/** The cost of one call as it is kept, with the version of the costs it was computed by. */
export interface CallCost {
  readonly nanos: Nanos
  readonly version: bigint
  /** True when the vendor's own figure differs so much that a price dimension was missed. */
  readonly isSurprising?: boolean
}

export interface CostInput {
  readonly charge: Pick<Charge, 'nanos' | 'review'>
  /** What the upstream stated. */
  readonly usage: Quantities | undefined
  readonly passes?: readonly ModelPass[] | undefined
  /** The vendor's own figure, and the currency that the account pays in. */
  readonly stated?: StatedCost | undefined
  readonly currency?: string
  readonly facts: Facts
  /** What the settings of the serving channel say of the price. */
  readonly channelFacts?: Facts
  /** What stands in for what it did not state. */
  readonly fallback: () => Quantities
}

/**
 * The cost of what was delivered: the vendor's own figure where it states one in the account's
 * currency, else by the costs of the route. Null when neither is known: the usage was not
 * believed, or a unit that always costs is in neither usage nor fallback.
 */
export function computeCost(cost: RouteCost | undefined, input: CostInput): CallCost | null {
  const computed = computeByUsage(cost, input)
  const { stated, currency } = input
  if (!stated || stated.nanos < 0n || stated.currency !== currency) return computed
  const booked = believe(stated.nanos, computed?.version ?? STATED_VERSION)
  const isFar = computed !== null && isFarFrom(stated.nanos, computed.nanos)
  return booked && isFar ? { ...booked, isSurprising: true } : booked
}

/** More than one in a hundred apart: rounding does not explain it. */
function isFarFrom(stated: Nanos, computed: Nanos): boolean {
  const apart = stated > computed ? stated - computed : computed - stated
  return apart * 100n > stated
}

function computeByUsage(cost: RouteCost | undefined, input: CostInput): CallCost | null {
  if (!cost || input.charge.review || input.charge.nanos === null) return null
  const { facts, channelFacts = facts, passes } = input
  const { entries, version } = cost
  const stated = countOnce(entries, input.usage ?? {})
  const quantities = isWhole(entries, stated) ? stated : complete(stated, input.fallback())
  if (!isWhole(entries, quantities)) return null
  return believe(priceCharge(entries, quantities, facts, channelFacts, passes).totalNanos, version)
}

/** A side of which anything was stated is not estimated beside it. */
function complete(stated: Quantities, guess: Quantities): Quantities {
  const missing = Object.entries(guess).filter(([unit]) => !isTold(stated, unit as Unit))
  return { ...Object.fromEntries(missing), ...stated }
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
    ({ unit, when }) => when || !NEVER_ABSENT.has(unit) || isTold(quantities, unit),
  )
}

/** A prompt may have come from a cache as a whole, and output be images alone. */
function isTold(quantities: Quantities, unit: Unit): boolean {
  return sideOf(unit).some((one) => quantities[one] !== undefined)
}
