/**
 * Converts planned prices with an end into a sequence of prices, each of which applies from its
 * start on.
 */
import { isDeepStrictEqual } from 'node:util'
import type { PricePlan } from '../definition.ts'
import type { StoredPrice } from '../store.ts'

/** A plan as it is written: permanent, or with an end. */
export interface WrittenPlan extends PricePlan {
  readonly until?: string | undefined
}

/**
 * If several plans are active, the one that began last applies; if none is, the model's prices are
 * in force again.
 */
export function expandPlans(
  prices: readonly StoredPrice[],
  plans: readonly WrittenPlan[],
): PricePlan[] {
  const written = plans.toSorted((a, b) => timeOf(a.effective_from) - timeOf(b.effective_from))
  const begin = new Set(written.map((plan) => plan.effective_from))
  const ends = written.flatMap(({ until }) => (until === undefined ? [] : [until]))
  const moments = [...new Set([...begin, ...ends])].sort((a, b) => timeOf(a) - timeOf(b))
  const expanded: PricePlan[] = []
  for (const moment of moments) {
    const running = written.findLast(({ effective_from: from, until }) => {
      const isOver = until !== undefined && timeOf(until) <= timeOf(moment)
      return timeOf(from) <= timeOf(moment) && !isOver
    })
    const now = running?.prices ?? prices
    const isNew = begin.has(moment) || !isDeepStrictEqual(now, expanded.at(-1)?.prices)
    if (isNew) expanded.push({ effective_from: moment, prices: now })
  }
  return expanded
}

function timeOf(moment: string): number {
  return Date.parse(moment)
}
