/**
 * The vendor's book: prices a call by the price sheet, in exact fractions. It shares no code with
 * the gateway's arithmetic: a card is found by its key, not by evaluating conditions.
 */
import type { Rates } from '../rates.ts'
import { type Card, type Counts, DEFAULT_SERVED, type Served, type Sheet } from '../sheet.ts'

/** A part of the work that another model did. */
export interface Pass {
  readonly model: string
  readonly role: string
  readonly counts: Counts
}

/** Work that the vendor did for a call, and therefore bills. */
export interface Work {
  readonly counts: Counts
  readonly served: Served
  readonly passes: readonly Pass[]
  /** Billionths of the currency, if the vendor states its own cost. */
  readonly costNanos?: bigint
}

/** Units of the prompt, which together decide the band. */
const INPUT =
  /^(input|cached_input|cache_write(_5m|_1h)?|(cached_)?(audio|image)_input|video_input)_token$/

/** A unit without a rate of its own costs the rate of the next one here. */
const STANDS_FOR: Readonly<Record<string, string>> = {
  cached_input_token: 'input_token',
  cache_write_token: 'input_token',
  cache_write_5m_token: 'cache_write_token',
  image_input_token: 'input_token',
}

/**
 * Returns nano-units of the currency. Throws if the sheet has no rate: such work is never planned.
 */
export function worthOf(sheet: Sheet, work: Work): bigint {
  if (work.costNanos !== undefined) {
    return lineNanos(rateOf(sheet.fees ?? {}, 'vendor_cost'), work.costNanos)
  }
  const { rates } = findCard(sheet, work.served, inputOf(work.counts))
  let total = sumOf({ ...rates, ...sheet.fees }, work.counts)
  for (const { model, counts } of work.passes) total += sumOf(sheet.others?.[model] ?? {}, counts)
  return total
}

export function inputOf(counts: Counts): number {
  const inputs = Object.entries(counts).filter(([unit]) => INPUT.test(unit))
  return inputs.reduce((sum, [, quantity]) => sum + quantity, 0)
}

function findCard(sheet: Sheet, served: Served, input: number): Card {
  const cardKey = keyOf(served)
  const cards = sheet.cards.filter((card) => keyOf({ ...DEFAULT_SERVED, ...card }) === cardKey)
  const longest = cards
    .filter(({ from = 0 }) => input >= from)
    .sort((a, b) => (b.from ?? 0) - (a.from ?? 0))[0]
  if (!longest) throw new Error(`${sheet.id} has no card for ${cardKey}`)
  return longest
}

function keyOf({ tier, speed, region, mode, thinking, size, resolution, sound }: Served): string {
  return [tier, speed, region, mode, thinking, size, resolution, sound].join('/')
}

/** Lines are rounded up one by one, as on invoices. */
function sumOf(rates: Rates, counts: Counts): bigint {
  let total = 0n
  for (const [unit, quantity] of Object.entries(counts)) {
    if (quantity > 0) total += lineNanos(rateOf(rates, unit), BigInt(quantity))
  }
  return total
}

function rateOf(rates: Rates, unit: string): readonly [string, number] {
  const rate = rates[unit]
  if (rate) return rate
  const next = STANDS_FOR[unit]
  if (next === undefined) throw new Error(`no rate for ${unit}`)
  return rateOf(rates, next)
}

function lineNanos([amount, per]: readonly [string, number], quantity: bigint): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  const numerator = BigInt(whole + fraction) * quantity * 10n ** 9n
  const denominator = BigInt(per) * 10n ** BigInt(fraction.length)
  return (numerator + denominator - 1n) / denominator
}
