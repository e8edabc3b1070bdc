/**
 * From what an upstream reported to what is owed. Pure: the rules of design.md part 4 in one
 * place, so that every endpoint is billed alike.
 */
import type { Facts, Model } from '../catalog/catalog.ts'
import { priceCharge } from '../catalog/price.ts'
import type { RelayReport } from '../dialects/relay.ts'
import type { Nanos } from '../lib/money.ts'
import type { Quantities } from '../lib/units.ts'

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
  readonly report: RelayReport
  /** The protocol's own end was seen and no error. */
  readonly complete: boolean
  readonly billsBroken: boolean
  readonly fallback: (complete: boolean) => Quantities
}

export const NOTHING: Charge = { nanos: null, basis: 'none', review: false, lines: [] }

export function computeCharge(input: ChargeInput): Charge {
  const { report } = input
  if (report.usage) return chargeUsage(input, report.usage)
  if (input.complete) return price(input, input.fallback(true), 'estimate')
  // Broken off: what the caller got is owed where the vendor bills it; nothing got, nothing owed.
  if (!input.billsBroken || report.outputBytes === 0) return NOTHING
  return price(input, input.fallback(false), 'partial')
}

function chargeUsage(input: ChargeInput, usage: Quantities): Charge {
  const sane = Object.values(usage).every(isSane)
  if (!sane) return clamped(input)
  const charge = price(input, usage, 'usage')
  const absurd =
    input.holdNanos > 0n && charge.nanos !== null && charge.nanos > input.holdNanos * ABSURD_FACTOR
  return absurd ? clamped(input) : charge
}

function isSane(quantity: unknown): boolean {
  return typeof quantity === 'number' && Number.isSafeInteger(quantity) && quantity >= 0
}

function price(input: ChargeInput, quantities: Quantities, basis: Charge['basis']): Charge {
  if (input.model.free) return { nanos: 0n, basis, review: false, lines: [] }
  const priced = priceCharge(input.model.prices, quantities, input.facts)
  const lines = priced.lines.map(({ unitPrice, ...line }) => ({ ...line, unit_price: unitPrice }))
  return { nanos: priced.totalNanos, basis, review: false, lines }
}

/** The hold is what the caller agreed to; anything beyond an absurd figure is for people. */
function clamped(input: ChargeInput): Charge {
  return { nanos: input.holdNanos, basis: 'usage', review: true, lines: [] }
}
