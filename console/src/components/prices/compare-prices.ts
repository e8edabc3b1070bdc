/** Pairs the prices of two lists by unit, quantity and condition. */
import { addUp } from '../../lib/nanos.ts'

export interface ComparedPrice {
  readonly unit: string
  readonly per: number
  readonly amount: string
  readonly when?: Readonly<Record<string, unknown>> | undefined
}

export interface PricePair extends Omit<ComparedPrice, 'amount'> {
  /** Absent where the list has no such price. */
  readonly before?: string
  readonly after?: string
  /** The change as a share of the old price; absent without two prices or from zero. */
  readonly share?: number
}

/** Returns the pairs in the order of the new list, then the prices that it lacks. */
export function comparePrices(
  before: readonly ComparedPrice[],
  after: readonly ComparedPrice[],
): PricePair[] {
  const old = new Map(before.map((price) => [keyOf(price), price]))
  const fresh = new Set(after.map(keyOf))
  return [
    ...after.map((price) => pair(price, old.get(keyOf(price))?.amount, price.amount)),
    ...before.filter((price) => !fresh.has(keyOf(price))).map((price) => pair(price, price.amount)),
  ]
}

function pair({ unit, per, when }: ComparedPrice, before?: string, after?: string): PricePair {
  const isRatio = before !== undefined && after !== undefined && Number(before) !== 0
  return {
    unit,
    per,
    ...(when ? { when } : {}),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(isRatio ? { share: Number(addUp([after], [before])) / Number(before) } : {}),
  }
}

function keyOf({ unit, per, when = {} }: ComparedPrice): string {
  const conditions = Object.entries(when).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([unit, per, conditions])
}
