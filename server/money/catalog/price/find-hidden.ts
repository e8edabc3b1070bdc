/** Finds prices that never apply, since an earlier one of their unit always comes first. */
import type { PriceEntry } from '../catalog.ts'
import { isWithin } from './conditions.ts'
import { isAnotherWay } from './strict-facts.ts'

type Entry = Pick<PriceEntry, 'unit' | 'when'>

export interface HiddenPrice {
  readonly index: number
  /** The position of the price that applies instead. */
  readonly by: number
}

/** Returns the prices whose conditions fulfil those of an earlier price of the same unit. */
export function findHidden(prices: readonly Entry[]): HiddenPrice[] {
  return prices.flatMap((entry, index) => {
    const by = prices.slice(0, index).findIndex((earlier) => hides(earlier, entry))
    return by === -1 ? [] : [{ index, by }]
  })
}

function hides(earlier: Entry, { unit, when = {} }: Entry): boolean {
  if (earlier.unit !== unit) return false
  const conditions = Object.entries(earlier.when ?? {})
  const rest = Object.entries(when).filter(([name]) => !Object.hasOwn(earlier.when ?? {}, name))
  // A price that does not name how a call is served is for the usual way alone.
  if (isAnotherWay({ unit, when: Object.fromEntries(rest) })) return false
  return conditions.every(([name, condition]) => {
    const narrower = Object.hasOwn(when, name) ? when[name] : undefined
    return narrower !== undefined && isWithin(narrower, condition)
  })
}
