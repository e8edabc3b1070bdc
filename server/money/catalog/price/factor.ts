/** Exact multiplication of prices by a decimal factor: in integers, rounded up once. Pure. */
import { divideUp, formatAmount, type Nanos, parseAmount } from '../../../base/lib/money.ts'
import type { StoredPrice } from '../store.ts'

/** A factor in millionths: "1.15" is 1,150,000. */
export type Millionths = bigint

const FACTOR = /^(0|[1-9]\d{0,5})(?:\.(\d{1,6}))?$/
const ONE: Millionths = 1_000_000n
/** The largest amount of a price: nine digits before and after the point. */
const AMOUNT_MAX: Nanos = 10n ** 18n - 1n

/** Returns undefined for a text that is not a decimal of at most six digits on either side. */
export function parseFactor(text: string): Millionths | undefined {
  const match = FACTOR.exec(text)
  if (!match) return undefined
  const [, whole = '0', fraction = ''] = match
  return BigInt(whole) * ONE + BigInt(fraction.padEnd(6, '0'))
}

/** Returns the shortest form of a factor: "1.150" is "1.15". */
export function formatFactor(factor: Millionths): string {
  return formatAmount(factor * 1_000n)
}

/** Multiplies and rounds up to a nano-unit. */
function scaleAmount(nanos: Nanos, factor: Millionths): Nanos {
  return divideUp(nanos * factor, ONE)
}

/** Returns the prices times the factor, with their conditions; undefined if one is too large. */
export function scalePrices(
  prices: readonly StoredPrice[],
  factor: Millionths,
): StoredPrice[] | undefined {
  const scaled: StoredPrice[] = []
  for (const { unit, per, amount, when } of prices) {
    const nanos = scaleAmount(parseAmount(amount) ?? 0n, factor)
    if (nanos > AMOUNT_MAX) return undefined
    scaled.push({ unit, per, amount: formatAmount(nanos), ...(when ? { when } : {}) })
  }
  return scaled
}
