/**
 * What a call costs: quantities times prices. Pure and exact: bigint only, and one rounding, up,
 * on each line, so that the lines of a record add up to its charge.
 */
import { divideUp, formatAmount, type Nanos } from '../lib/money.ts'
import { type Quantities, UNITS, type Unit } from '../lib/units.ts'
import type { Facts, PriceEntry } from './catalog.ts'
import { type Judge, judgeFinished, judgeUpcoming } from './conditions.ts'

/** One line of a consumption record. `unitPrice` buys `per` units; amounts are decimal strings. */
export interface PriceLine {
  readonly unit: Unit
  readonly quantity: number
  readonly unitPrice: string
  readonly per: number
  readonly amount: string
}

export interface Priced {
  readonly totalNanos: Nanos
  readonly lines: readonly PriceLine[]
}

/**
 * The unit whose price holds where a unit has none of its own. Audio and writes that live for an
 * hour cost a multiple of text and have no such stand-in.
 */
const FALLBACK: Partial<Record<Unit, Unit>> = {
  cached_input_token: 'input_token',
  cache_write_token: 'input_token',
  cache_write_5m_token: 'cache_write_token',
  cached_audio_input_token: 'audio_input_token',
  image_input_token: 'input_token',
  cached_image_input_token: 'cached_input_token',
  video_input_token: 'input_token',
}

/** What text that is still to be read may turn out to be. */
const TEXT_INPUT_UNITS: readonly Unit[] = [
  'input_token',
  'cached_input_token',
  'cache_write_token',
  'cache_write_5m_token',
]

/**
 * The charge for quantities under known facts. The first entry of a unit whose conditions hold is
 * its price. A unit without a price costs nothing and still has its line (unit price 0), so that
 * a record shows everything the upstream reported; a quantity of zero has no line.
 *
 * Throws RangeError for a quantity that is not a whole number from 0 to 2^53 - 1.
 */
export function priceCharge(
  prices: readonly PriceEntry[],
  quantities: Quantities,
  facts: Facts,
): Priced {
  const judge = judgeFinished(quantities, facts)
  const lines: PriceLine[] = []
  let totalNanos = 0n
  for (const unit of UNITS) {
    const quantity = quantityOf(quantities, unit)
    if (quantity === 0n) continue
    const [entry] = entriesFor(prices, unit, judge)
    const amount = entry ? amountOf(entry, quantity) : 0n
    totalNanos += amount
    lines.push(lineOf(unit, quantity, entry, amount))
  }
  return { totalNanos, lines }
}

function lineOf(
  unit: Unit,
  quantity: bigint,
  entry: PriceEntry | undefined,
  amount: Nanos,
): PriceLine {
  return {
    unit,
    quantity: Number(quantity),
    unitPrice: formatAmount(entry?.amountNanos ?? 0n),
    per: entry?.per ?? 1,
    amount: formatAmount(amount),
  }
}

/**
 * The most that up to these quantities can cost while only some facts are known: of the entries
 * that may turn out to be the price, the dearest. Input tokens may turn out to be cached or
 * written to a cache, so all those prices are weighed. Throws RangeError as priceCharge does.
 */
export function priceUpperBound(
  prices: readonly PriceEntry[],
  quantities: Quantities,
  facts: Facts,
): Nanos {
  const judge = judgeUpcoming(quantities, facts)
  let total = 0n
  for (const unit of UNITS) {
    const quantity = quantityOf(quantities, unit)
    if (quantity > 0n) total += dearestFor(prices, unit, quantity, judge).amount
  }
  return total
}

/** The same sum with its arithmetic, for whoever asks before a call what would be frozen. */
export function explainUpperBound(
  prices: readonly PriceEntry[],
  quantities: Quantities,
  facts: Facts,
): Priced {
  const judge = judgeUpcoming(quantities, facts)
  const lines: PriceLine[] = []
  let totalNanos = 0n
  for (const unit of UNITS) {
    const quantity = quantityOf(quantities, unit)
    if (quantity === 0n) continue
    const { entry, amount } = dearestFor(prices, unit, quantity, judge)
    totalNanos += amount
    if (entry) lines.push(lineOf(unit, quantity, entry, amount))
  }
  return { totalNanos, lines }
}

interface Dearest {
  readonly entry: PriceEntry | undefined
  readonly amount: Nanos
}

function dearestFor(
  prices: readonly PriceEntry[],
  unit: Unit,
  quantity: bigint,
  judge: Judge,
): Dearest {
  const units = unit === 'input_token' ? TEXT_INPUT_UNITS : [unit]
  let dearest: Dearest = { entry: undefined, amount: 0n }
  for (const entry of units.flatMap((possible) => entriesFor(prices, possible, judge))) {
    const amount = boundOf(entry, quantity, units)
    if (!dearest.entry || amount > dearest.amount) dearest = { entry, amount }
  }
  return dearest
}

/** The entries that can be the price of a unit: none after the first one that surely is. */
function entriesFor(prices: readonly PriceEntry[], unit: Unit, judge: Judge): PriceEntry[] {
  const possible: PriceEntry[] = []
  for (const entry of prices) {
    if (entry.unit !== unit) continue
    const verdict = judge(entry)
    if (verdict !== 'no') possible.push(entry)
    if (verdict === 'yes') return possible
  }
  const fallback = FALLBACK[unit]
  return fallback ? [...possible, ...entriesFor(prices, fallback, judge)] : possible
}

function amountOf(entry: PriceEntry, quantity: bigint): Nanos {
  return divideUp(quantity * entry.amountNanos, BigInt(entry.per))
}

/** A quantity that splits over several lines is rounded up once more for each further line. */
function boundOf(entry: PriceEntry, quantity: bigint, units: readonly Unit[]): Nanos {
  const amount = amountOf(entry, quantity)
  const exact = entry.amountNanos % BigInt(entry.per) === 0n
  return exact ? amount : amount + BigInt(units.length - 1)
}

function quantityOf(quantities: Quantities, unit: Unit): bigint {
  const quantity = quantities[unit]
  // Most of the many units are in no call.
  if (quantity === undefined || quantity === 0) return 0n
  if (!Number.isSafeInteger(quantity) || quantity < 0) {
    throw new RangeError(`${unit}: ${quantity} is not a whole number from 0 to 2^53 - 1`)
  }
  return BigInt(quantity)
}
