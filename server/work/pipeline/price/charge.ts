/**
 * Computes the charge of a call from the usage that its upstream reported. Pure, and in one place,
 * so that every endpoint and every task is billed alike:
 *
 * - Stated usage is charged as stated up to the ceiling of the request, however far above the hold.
 *   Beyond it, it is reduced to the ceiling and reviewed.
 * - Required usage that was not stated is estimated; an estimate never charges more than the hold.
 * - For a quantity without a price or a unit, the hold is charged and the call is reviewed. A cost
 * that the
 *   vendor states has all of them in it.
 */

import type { Nanos } from '../../../base/lib/money.ts'
import { type Quantities, sideOf, type Unit } from '../../../base/lib/units.ts'
import type { Facts, Model } from '../../../money/catalog/catalog.ts'
import {
  countOnce,
  isChargedByCost,
  isPriced,
  type Priced,
  type PriceLine,
  priceCharge,
} from '../../../money/catalog/price/price.ts'
import type { ModelPass, RelayReport } from '../../../wire/dialects/relay.ts'
import { boundCost } from './bound-cost.ts'
import { type Ceiling, clampToCeiling, onlyStated } from './ceiling.ts'
import { fitEstimate } from './fit-estimate.ts'
import { explainHold, type HoldEstimate } from './hold-estimate.ts'

/** One line of a usage record, as it is stored and shown. */
export interface ChargeLine extends Omit<PriceLine, 'unit'> {
  readonly unit: string
  /** The amount at the base prices; absent for a call that is charged by them. */
  readonly list_amount?: string
}

/** The charge of a call in the books, once it is committed. */
export interface Charged {
  readonly nanos: Nanos
  readonly currency: string
  readonly basis: string
  readonly review: boolean
}

export interface Charge {
  /** Null if nothing is owed: the hold is released. */
  readonly nanos: Nanos | null
  readonly basis: 'usage' | 'estimate' | 'partial' | 'none'
  /** True if the charge differs from the stated usage: an operator compares it with the bill. */
  readonly review: boolean
  readonly lines: readonly ChargeLine[]
}

export interface ChargeInput {
  readonly model: Pick<Model, 'type' | 'free' | 'prices' | 'currency'>
  readonly facts: Facts
  /** Price facts from the settings of the serving channel. */
  readonly channelFacts?: Facts
  readonly holdNanos: Nanos
  readonly holdEstimate: HoldEstimate
  readonly report: RelayReport
  /** True if the answer reached its protocol's end without an error. */
  readonly complete: boolean
  readonly billsBroken: boolean
  /** Units that are estimated if they are priced and not stated. */
  readonly needs?: readonly Unit[]
  readonly fallback: (complete: boolean) => Quantities
}

export const NO_CHARGE: Charge = { nanos: null, basis: 'none', review: false, lines: [] }

/** The stated usage, reduced to the ceiling. */
interface Stated {
  readonly quantities: Quantities
  readonly passes: readonly ModelPass[]
  readonly isClamped: boolean
}

export function computeCharge(input: ChargeInput): Charge {
  const { report, complete, billsBroken } = input
  const stated = readStated(input)
  const missing = hasCost(input, stated.quantities) ? [] : findMissing(input, stated.quantities)
  if (missing.length === 0 && isAnything(stated)) return chargeStated(input, stated, {}, 'usage')
  if (complete) return chargeStated(input, stated, estimate(input, missing), 'estimate')
  // The answer broke off: its delivered part is charged if the vendor bills it.
  if (!billsBroken || (report.outputBytes === 0 && !isAnything(stated))) return NO_CHARGE
  return chargeStated(input, stated, estimate(input, missing), 'partial')
}

function readStated({ model, holdEstimate, report }: ChargeInput): Stated {
  const { usage = NO_QUANTITIES, passes = NO_PASSES } = report
  const cost = soldCost(model, report.statedCost)
  const stated = onlyStated(cost === undefined ? usage : { ...usage, vendor_cost: cost })
  const main = clampToCeiling(stated, ceilingOf(model, holdEstimate, stated))
  if (passes.length === 0) return { ...main, passes: NO_PASSES }
  const others = passes.map((pass) => ({
    ...pass,
    ...clampToCeiling(onlyStated(pass.usage), holdEstimate.ceiling),
  }))
  return {
    quantities: main.quantities,
    passes: others.map(({ model: id, role, quantities }) => ({
      model: id,
      role,
      usage: quantities,
    })),
    isClamped: main.isClamped || others.some(({ isClamped }) => isClamped),
  }
}

/** Returns the ceiling of the request, with that of a cost where one is stated. */
function ceilingOf(
  { prices }: ChargeInput['model'],
  { ceiling }: HoldEstimate,
  stated: Quantities,
): Ceiling {
  if (stated.vendor_cost === undefined) return ceiling
  return { ...ceiling, units: { ...ceiling.units, vendor_cost: boundCost(prices, ceiling) } }
}

const NO_QUANTITIES: Quantities = {}
const NO_PASSES: readonly ModelPass[] = []
const NO_FACTS: Facts = {}
const NO_PRICES: ChargeInput['model']['prices'] = []

/** Returns the cost that the vendor stated, if the model is sold by it, in its currency. */
function soldCost(
  { prices, currency }: Pick<ChargeInput['model'], 'prices' | 'currency'>,
  stated: RelayReport['statedCost'],
): number | undefined {
  if (!stated || stated.currency !== currency || stated.nanos < 0n) return undefined
  return prices.some(({ unit }) => unit === 'vendor_cost') ? Number(stated.nanos) : undefined
}

function isAnything({ quantities, passes }: Stated): boolean {
  return passes.length > 0 || Object.keys(quantities).length > 0
}

/** Returns true if the vendor's own figure is the charge, whatever else the answer states. */
function hasCost(
  { model: { free, prices }, facts, channelFacts = NO_FACTS }: ChargeInput,
  quantities: Quantities,
): boolean {
  if (free) return quantities.vendor_cost !== undefined
  return isChargedByCost(prices, quantities, facts, channelFacts)
}

/**
 * Returns the required units that are priced and not stated. One stated unit of a side (input or
 * output) is enough: a whole prompt may have come from a cache.
 */
function findMissing({ needs = [], model }: ChargeInput, stated: Quantities): readonly Unit[] {
  return needs.filter((unit) => {
    const isStated = sideOf(unit).some((one) => stated[one] !== undefined)
    return !isStated && isPriced(model.prices, unit)
  })
}

/** Returns the fallback, without required units that were stated. */
function estimate(
  { needs, fallback, complete }: ChargeInput,
  missing: readonly Unit[],
): Quantities {
  const guess = fallback(complete)
  if (!needs) return guess
  const stated = new Set<string>(needs.filter((unit) => !missing.includes(unit)))
  return Object.fromEntries(Object.entries(guess).filter(([unit]) => !stated.has(unit)))
}

/** Charges stated and estimated quantities. A free model's record has lines too, at price zero. */
function chargeStated(
  input: ChargeInput,
  { quantities, passes, isClamped }: Stated,
  estimated: Quantities,
  basis: Charge['basis'],
): Charge {
  const { model, facts, channelFacts = NO_FACTS, holdNanos, report } = input
  const prices = model.free ? NO_PRICES : model.prices
  const price = (some: Quantities, served = facts) =>
    priceCharge(prices, countOnce(prices, some), served, channelFacts, passes)
  const all = fitEstimate(quantities, estimated, holdNanos, (some) => price(some).totalNanos)
  const priced = price(all)
  const { unknownUsage = [] } = report
  const isUnknown = !model.free && unknownUsage.length > 0 && !hasCost(input, quantities)
  const isUnpriced = !model.free && priced.unpriced.some((unit) => isSold(unit, model))
  const review = isClamped || isUnknown || isUnpriced
  if (!isUnknown && !isUnpriced) return chargeOf(priced, basis, review)
  // Usage that cannot be priced is charged at least as the hold, and as if it had been served the
  // way that the request named.
  const asRequested = price(all, factsAsRequested(input))
  const larger = asRequested.totalNanos > priced.totalNanos ? asRequested : priced
  if (larger.totalNanos < holdNanos) return chargeHold(input, basis)
  return chargeOf(larger, basis, review)
}

function chargeOf({ totalNanos, lines }: Priced, basis: Charge['basis'], review: boolean): Charge {
  return { nanos: totalNanos, basis, review, lines }
}

/** Returns the facts of the call as if it had been served the way that its request named. */
function factsAsRequested({ facts, holdEstimate }: ChargeInput): Facts {
  const { service_tier: _tier, speed: _speed, region: _region, ...rest } = facts
  const { service_tier: tier, speed, region } = holdEstimate.alternatives[0]
  return {
    ...rest,
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...(speed === undefined ? {} : { speed }),
    ...(region === undefined ? {} : { region }),
  }
}

/** Returns true if tokens are billed; other models report them for information only. */
export function isSoldByTokens({ type }: Pick<Model, 'type'>): boolean {
  return type === 'chat' || type === 'embedding'
}

const TEXT_INPUT: ReadonlySet<Unit> = new Set([
  'input_token',
  'cached_input_token',
  'cache_write_token',
  'cache_write_5m_token',
])

/**
 * Returns true if the model sells this unit, so that a quantity without a price is a mistake. Plain
 * tokens are information on a model without a price for them, which is sold by call or by output.
 */
function isSold(unit: Unit, { type, prices }: ChargeInput['model']): boolean {
  if (!isSoldByTokens({ type })) return prices.some((price) => price.unit === unit)
  const base = TEXT_INPUT.has(unit) ? 'input_token' : unit
  const isPlain = base === 'input_token' || base === 'output_token'
  return !isPlain || prices.some((price) => price.unit === base)
}

/** Charges the hold; the record has the lines of its estimate. */
function chargeHold(
  { model, holdNanos, holdEstimate }: ChargeInput,
  basis: Charge['basis'],
): Charge {
  return { nanos: holdNanos, basis, review: true, lines: explainHold(model, holdEstimate) }
}
