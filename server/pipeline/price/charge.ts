/**
 * From what an upstream reported to what is owed. Pure, and in one place, so that every endpoint
 * and every task is billed alike:
 *
 * - Stated usage is charged as stated up to the ceiling of the request, however far above the hold.
 *   Beyond it, it is cut down to the ceiling and reviewed.
 * - What is needed and not stated is estimated, and an estimate never takes more than the hold.
 * - A quantity that no price and no unit stands for is charged as the hold, and reviewed.
 */
import type { Facts, Model } from '../../catalog/catalog.ts'
import {
  countOnce,
  isPriced,
  type Priced,
  type PriceLine,
  priceCharge,
} from '../../catalog/price/price.ts'
import type { ModelPass, RelayReport } from '../../dialects/relay.ts'
import type { Nanos } from '../../lib/money.ts'
import { type Quantities, sideOf, type Unit } from '../../lib/units.ts'
import { clampToCeiling, onlyStated } from './ceiling.ts'
import { fitEstimate } from './fit-estimate.ts'
import { explainHold, type Held } from './held.ts'

/** One line of a consumption record, as it is stored and shown. */
export interface ChargeLine extends Omit<PriceLine, 'unit'> {
  readonly unit: string
}

export interface Charge {
  /** null when nothing is owed: the hold is released. */
  readonly nanos: Nanos | null
  readonly basis: 'usage' | 'estimate' | 'partial' | 'none'
  /** True when the charge is not what the upstream stated: a person compares it with the bill. */
  readonly review: boolean
  readonly lines: readonly ChargeLine[]
}

export interface ChargeInput {
  readonly model: Pick<Model, 'type' | 'free' | 'prices' | 'currency'>
  readonly facts: Facts
  /** What the settings of the serving channel say of the price. */
  readonly channelFacts?: Facts
  readonly holdNanos: Nanos
  readonly held: Held
  readonly report: RelayReport
  /** The protocol's own end was seen and no error. */
  readonly complete: boolean
  readonly billsBroken: boolean
  /** Units that stated usage must have, where they are priced. */
  readonly needs?: readonly Unit[]
  readonly fallback: (complete: boolean) => Quantities
}

export const NOTHING: Charge = { nanos: null, basis: 'none', review: false, lines: [] }

/** What an upstream stated, as far as it is believed. */
interface Stated {
  readonly quantities: Quantities
  readonly passes: readonly ModelPass[]
  readonly isClamped: boolean
}

export function computeCharge(input: ChargeInput): Charge {
  const { report, complete, billsBroken } = input
  const stated = readStated(input)
  const missing = hasCost(stated.quantities) ? [] : findMissing(input, stated.quantities)
  if (missing.length === 0 && isAnything(stated)) return chargeStated(input, stated, {}, 'usage')
  if (complete) return chargeStated(input, stated, estimate(input, missing), 'estimate')
  // Broken off: what the caller got is owed where the vendor bills it; nothing got, nothing owed.
  if (!billsBroken || (report.outputBytes === 0 && !isAnything(stated))) return NOTHING
  return chargeStated(input, stated, estimate(input, missing), 'partial')
}

function readStated({ model, held, report }: ChargeInput): Stated {
  const { usage = NO_QUANTITIES, passes = NO_PASSES } = report
  const cost = soldCost(model, report.statedCost)
  const stated = onlyStated(cost === undefined ? usage : { ...usage, vendor_cost: cost })
  const main = clampToCeiling(stated, held.ceiling)
  if (passes.length === 0) return { ...main, passes: NO_PASSES }
  const others = passes.map((pass) => ({
    ...pass,
    ...clampToCeiling(onlyStated(pass.usage), held.ceiling),
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

const NO_QUANTITIES: Quantities = {}
const NO_PASSES: readonly ModelPass[] = []
const NO_FACTS: Facts = {}
const NO_PRICES: ChargeInput['model']['prices'] = []

/** The vendor's own cost, where the model is sold by it and in its currency. */
function soldCost(
  { prices, currency }: ChargeInput['model'],
  stated: RelayReport['statedCost'],
): number | undefined {
  if (!stated || stated.currency !== currency || stated.nanos < 0n) return undefined
  return prices.some(({ unit }) => unit === 'vendor_cost') ? Number(stated.nanos) : undefined
}

function isAnything({ quantities, passes }: Stated): boolean {
  return passes.length > 0 || Object.keys(quantities).length > 0
}

function hasCost({ vendor_cost: cost }: Quantities): boolean {
  return cost !== undefined
}

/** A side of which any unit was stated is stated: a whole prompt may have come from a cache. */
function findMissing({ needs = [], model }: ChargeInput, stated: Quantities): readonly Unit[] {
  return needs.filter((unit) => {
    const isStated = sideOf(unit).some((one) => stated[one] !== undefined)
    return !isStated && isPriced(model.prices, unit)
  })
}

/** Without `needs`, the fallback stands for all that was not stated. */
function estimate(
  { needs, fallback, complete }: ChargeInput,
  missing: readonly Unit[],
): Quantities {
  const guess = fallback(complete)
  if (!needs) return guess
  const stated = new Set<string>(needs.filter((unit) => !missing.includes(unit)))
  return Object.fromEntries(Object.entries(guess).filter(([unit]) => !stated.has(unit)))
}

/** What is free has its lines too, at a price of zero: a record shows what was used. */
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
  const isUnknown =
    !model.free && report.unknownUsage !== undefined && report.unknownUsage.length > 0
  const isUnpriced = !model.free && priced.unpriced.some((unit) => isSold(unit, model))
  const review = isClamped || isUnknown || isUnpriced
  if (!isUnknown && !isUnpriced) return chargeOf(priced, basis, review)
  // What nobody can price is worth at least what the caller agreed to, and what it would have cost
  // had it been served as it was asked for.
  const usual = price(all, asAsked(input))
  const most = usual.totalNanos > priced.totalNanos ? usual : priced
  if (most.totalNanos < holdNanos) return chargeHold(input, basis)
  return chargeOf(most, basis, review)
}

function chargeOf({ totalNanos, lines }: Priced, basis: Charge['basis'], review: boolean): Charge {
  return { nanos: totalNanos, basis, review, lines }
}

/** Facts of the call as if it had been served the way that its request named. */
function asAsked({ facts, held }: ChargeInput): Facts {
  const { service_tier: _tier, speed: _speed, region: _region, ...rest } = facts
  const { service_tier: tier, speed, region } = held.alternatives[0]
  return {
    ...rest,
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...(speed === undefined ? {} : { speed }),
    ...(region === undefined ? {} : { region }),
  }
}

/** Other models report tokens beside what they are sold by: those are information. */
export function isSoldByTokens({ type }: Pick<Model, 'type'>): boolean {
  return type === 'chat' || type === 'embedding'
}

const TEXT_INPUT: ReadonlySet<Unit> = new Set([
  'input_token',
  'cached_input_token',
  'cache_write_token',
  'cache_write_5m_token',
])

/** A model that is sold by the call, or by its answers alone, has plain tokens for information. */
function isSold(unit: Unit, { type, prices }: ChargeInput['model']): boolean {
  if (!isSoldByTokens({ type })) return prices.some((price) => price.unit === unit)
  const base = TEXT_INPUT.has(unit) ? 'input_token' : unit
  const isPlain = base === 'input_token' || base === 'output_token'
  return !isPlain || prices.some((price) => price.unit === base)
}

/** The record says what the hold was for. */
function chargeHold({ model, holdNanos, held }: ChargeInput, basis: Charge['basis']): Charge {
  return { nanos: holdNanos, basis, review: true, lines: explainHold(model, held) }
}
