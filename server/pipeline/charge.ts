/**
 * From what an upstream reported to what is owed. Pure: the rules of design.md part 4 in one
 * place, so that every endpoint is billed alike.
 */
import type { Facts, Model, PriceEntry } from '../catalog/catalog.ts'
import { explainUpperBound, type PriceLine, priceCharge } from '../catalog/price.ts'
import type { RelayReport } from '../dialects/relay.ts'
import type { Nanos } from '../lib/money.ts'
import type { Quantities, Unit } from '../lib/units.ts'

/** More than this many times the hold is not believed. */
const ABSURD_FACTOR = 10n

/** One line of a consumption record, as it is stored and shown. */
export interface ChargeLine {
  readonly unit: string
  readonly quantity: number
  readonly unit_price: string
  readonly per: number
  readonly amount: string
}

export interface Charge {
  /** null when nothing is owed: the hold is released. */
  readonly nanos: Nanos | null
  readonly basis: 'usage' | 'estimate' | 'partial' | 'none'
  /** True when the upstream's usage was absurd and the hold was charged instead. */
  readonly review: boolean
  readonly lines: readonly ChargeLine[]
}

export interface ChargeInput {
  readonly model: Pick<Model, 'free' | 'prices'>
  readonly facts: Facts
  readonly holdNanos: Nanos
  /** What the hold was taken for. */
  readonly held: { readonly quantities: Quantities; readonly facts: Facts }
  readonly report: RelayReport
  /** The protocol's own end was seen and no error. */
  readonly complete: boolean
  readonly billsBroken: boolean
  /** Units that stated usage must have, where they are priced. */
  readonly needs?: readonly Unit[]
  readonly fallback: (complete: boolean) => Quantities
  /** Whether usage far beyond the hold is still what the request can come to. */
  readonly plausible?: ((usage: Quantities) => boolean) | undefined
}

export const NOTHING: Charge = { nanos: null, basis: 'none', review: false, lines: [] }

export function computeCharge(input: ChargeInput): Charge {
  const { usage, outputBytes } = input.report
  if (usage && !Object.values(usage).every(isSane)) return clamped(input)
  if (usage && isEnough(input, usage)) return chargeUsage(input, usage)
  if (input.complete) return price(input, { ...estimate(input, true), ...usage }, 'estimate')
  // Broken off: what the caller got is owed where the vendor bills it; nothing got, nothing owed.
  if (!input.billsBroken || outputBytes === 0) return NOTHING
  return price(input, { ...estimate(input, false), ...usage }, 'partial')
}

function isEnough(input: ChargeInput, usage: Quantities): boolean {
  const { needs = [] } = input
  return needs.every((unit) => usage[unit] !== undefined || !isPriced(input, unit))
}

/** What is needed only where it is priced has no line elsewhere. */
function estimate(input: ChargeInput, complete: boolean): Quantities {
  const { needs = [] } = input
  const isWanted = (unit: string) => needs.every((one) => one !== unit || isPriced(input, one))
  const entries = Object.entries(input.fallback(complete))
  return Object.fromEntries(entries.filter(([unit]) => isWanted(unit)))
}

function isPriced({ model }: ChargeInput, unit: Unit): boolean {
  return model.prices.some((price) => price.unit === unit)
}

function chargeUsage(input: ChargeInput, usage: Quantities): Charge {
  const charge = price(input, usage, 'usage')
  const isFarBeyond =
    input.holdNanos > 0n && charge.nanos !== null && charge.nanos > input.holdNanos * ABSURD_FACTOR
  const absurd = isFarBeyond && input.plausible?.(usage) !== true
  return absurd ? clamped(input) : charge
}

function isSane(quantity: unknown): boolean {
  return typeof quantity === 'number' && Number.isSafeInteger(quantity) && quantity >= 0
}

/** What is free has its lines too, at a price of zero: a record shows what was used. */
function price(input: ChargeInput, quantities: Quantities, basis: Charge['basis']): Charge {
  const { free } = input.model
  const prices = free ? [] : input.model.prices
  const priced = priceCharge(
    prices,
    { ...countOnce(prices), ...quantities },
    input.facts,
    input.facts,
  )
  return { nanos: priced.totalNanos, basis, review: false, lines: priced.lines.map(printLine) }
}

function printLine({ unitPrice, ...line }: PriceLine): ChargeLine {
  return { ...line, unit_price: unitPrice }
}

/** What every call and task is one of, where that has a price: no upstream counts it. */
export function countOnce(prices: readonly PriceEntry[]): Quantities {
  const isPriced = (unit: Unit) => prices.some((price) => price.unit === unit)
  return { ...(isPriced('call') ? { call: 1 } : {}), ...(isPriced('task') ? { task: 1 } : {}) }
}

/** The hold is what the caller agreed to; anything beyond an absurd figure is for people. */
function clamped({ model, holdNanos, held }: ChargeInput): Charge {
  const prices = model.free ? [] : model.prices
  const { lines } = explainUpperBound(prices, held.quantities, [held.facts], [held.facts])
  return { nanos: holdNanos, basis: 'usage', review: true, lines: lines.map(printLine) }
}
