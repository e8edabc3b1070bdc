/**
 * The upstream costs that a price must cover, whichever route serves the call: of each unit and
 * condition the highest of all routes. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import { parseAmount } from '../../../base/lib/money.ts'
import type { Unit } from '../../../base/lib/units.ts'
import type { StoredPrice, StoredRoute } from '../store.ts'
import { FALLBACK } from './price.ts'
import { isAnotherWay } from './strict-facts.ts'

export type DearestCost =
  | { readonly costs: readonly StoredPrice[]; readonly versions: readonly string[] }
  /** The reason why there is no cost, for the operator. */
  | { readonly problem: string }

/**
 * Returns the highest costs in a currency. A paused channel counts: it may be resumed at any time.
 * A route whose costs are unknown, in another currency or stated only by the vendor is a problem.
 */
export function findDearestCost(routes: readonly StoredRoute[], currency: string): DearestCost {
  if (routes.length === 0) return { problem: 'it has no route of its own' }
  const versions: string[] = []
  for (const { channel, upstream_model: name, ...route } of routes) {
    const at = `the route ${channel}/${name}`
    if (!route.costs || route.upstream_cost_version === undefined) {
      return { problem: `${at} has no costs` }
    }
    if (route.currency !== currency) return { problem: `${at} costs in ${route.currency}` }
    if (route.costs.some(({ unit }) => unit === 'vendor_cost')) {
      return { problem: `${at} costs what the vendor states afterwards (vendor_cost)` }
    }
    versions.push(route.upstream_cost_version)
  }
  return { costs: combine(routes.map(({ costs = [] }) => costs)), versions }
}

function combine(lists: readonly (readonly StoredPrice[])[]): readonly StoredPrice[] {
  const [only, ...more] = lists
  if (only && more.every((one) => isDeepStrictEqual(one, only))) return only
  const units = [...new Set(lists.flat().map(({ unit }) => unit))]
  const whole = lists.map((list) => units.flatMap((unit) => entriesOf(list, unit)))
  const keys: StoredPrice[] = []
  for (const entry of whole.flat()) {
    if (!keys.some((known) => isSameKey(known, entry))) keys.push(entry)
  }
  // The first entry that applies is the price, so those without a condition come last.
  const inOrder = [...keys.filter(({ when }) => when), ...keys.filter(({ when }) => !when)]
  return inOrder.map((key, index) => {
    const behind = inOrder.slice(index + 1)
    return whole.map((list) => costOf(list, key, behind)).reduce(dearer, key)
  })
}

/** Returns the entries that may be the price of a unit, those of another unit among them. */
function entriesOf(list: readonly StoredPrice[], unit: Unit): readonly StoredPrice[] {
  const own = list.filter((entry) => entry.unit === unit)
  const other = FALLBACK[unit]
  const others = other ? entriesOf(list, other) : []
  const isCovered = own.some(({ when }) => !when)
  const reached = isCovered ? others.filter(isAnotherWay) : others
  return [...own, ...reached.map((entry) => ({ ...entry, unit }))]
}

function isSameKey(a: StoredPrice, b: StoredPrice): boolean {
  return a.unit === b.unit && isDeepStrictEqual(a.when, b.when)
}

/**
 * Returns the highest price that a list may have for the unit under the condition, as an entry with
 * this key: the entry for the same condition, or else the most expensive one that may apply.
 * Entries before it in the list, and those after it in the result, may apply too.
 */
function costOf(
  list: readonly StoredPrice[],
  key: StoredPrice,
  behind: readonly StoredPrice[],
): StoredPrice {
  const own = list.filter((entry) => entry.unit === key.unit)
  const [first, ...others] = own
  if (!first) return { ...key, amount: '0' }
  const place = own.findIndex(({ when }) => isDeepStrictEqual(when, key.when))
  const found = own[place]
  const shadowed = own
    .slice(0, Math.max(place, 0))
    .filter((entry) => behind.some((one) => isSameKey(one, entry)))
  const { per, amount } = found ? shadowed.reduce(dearer, found) : others.reduce(dearer, first)
  return { ...key, per, amount }
}

/** Compares prices of one unit exactly, even if they are for different numbers of units. */
function dearer(a: StoredPrice, b: StoredPrice): StoredPrice {
  const [ofA, ofB] = [parseAmount(a.amount) ?? 0n, parseAmount(b.amount) ?? 0n]
  return ofB * BigInt(a.per) > ofA * BigInt(b.per) ? b : a
}
