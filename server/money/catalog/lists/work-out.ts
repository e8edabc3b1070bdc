/**
 * Computes explicit prices from the rules of a list, for now and for each later moment at which its
 * own plans or the prices of its parent change. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import type { OriginOrNone } from '../catalog.ts'
import {
  decidingVersion,
  entryAt,
  type FactorRule,
  type ListDefinition,
  type ListVersion,
  momentsOf,
} from '../list.ts'
import { findDearestCost } from '../price/dearest-cost.ts'
import { parseFactor, scalePrices } from '../price/factor.ts'
import type { ModelRow, PlannedRow, StoredPrice } from '../store.ts'

/** The prices that a customer of a list pays from a moment on. */
export interface Effective {
  readonly from: number
  /** Absent if the model is hidden, or has no price in the currency. */
  readonly prices?: readonly StoredPrice[]
  readonly version?: string
  /** The list that the prices come from. */
  readonly list?: string
  readonly isHidden?: true
}

/** The prices of a list before they have a version. */
export type Desired = Omit<ListVersion, 'version'>

export type WorkedOut = { readonly desired: readonly Desired[] } | { readonly problem: string }

/** Returns the base prices of a model in a currency, now and later. */
export function baseOf(
  model: ModelRow,
  planned: readonly PlannedRow[],
  currency: string,
  atMs: number,
): Effective[] {
  const { price_version: version, prices } = model
  const current =
    prices && version !== null && model.currency === currency
      ? { from: atMs, prices, version: version.toString(), list: 'base' }
      : { from: atMs }
  const later = planned.map((row) => {
    const from = row.effective_from.getTime()
    if (row.currency !== currency) return { from }
    return { from, prices: row.prices, version: row.version.toString(), list: 'base' }
  })
  return [current, ...later]
}

/** Returns the versions that a list needs for a model, beginning with the one in force. */
export function workOut(
  { definition, currency }: { readonly definition: ListDefinition; readonly currency: string },
  model: ModelRow,
  parent: readonly Effective[],
  atMs: number,
): WorkedOut {
  const moments = [atMs, ...momentsOf(definition, atMs), ...parent.map(({ from }) => from)]
  const desired: Desired[] = []
  for (const from of [...new Set(moments)].filter((one) => one >= atMs).sort((a, b) => a - b)) {
    const priced = priceAt(definition, currency, model, effectiveAt(parent, from), from)
    if ('problem' in priced) return priced
    const last = desired.at(-1)
    if (last && isSamePrice(last, priced)) continue
    desired.push({ from, ...priced })
  }
  return { desired }
}

function effectiveAt(timeline: readonly Effective[], atMs: number): Effective {
  return timeline.findLast(({ from }) => from <= atMs) ?? timeline[0] ?? { from: atMs }
}

export function isSamePrice(a: Omit<Desired, 'from'>, b: Omit<Desired, 'from'>): boolean {
  return isDeepStrictEqual(a.origin, b.origin) && isDeepStrictEqual(a.prices, b.prices)
}

type Priced = { readonly origin: OriginOrNone; readonly prices?: readonly StoredPrice[] }

const INHERITED: Priced = { origin: { inherit: true } }

function priceAt(
  definition: ListDefinition,
  currency: string,
  model: ModelRow,
  parent: Effective,
  atMs: number,
): Priced | { readonly problem: string } {
  const entry = entryAt(definition, model.id, atMs)
  if (entry === undefined) return INHERITED
  if (entry === 'hidden') return { origin: { hidden: true } }
  if (!('of' in entry)) return { origin: { prices: true }, prices: entry }
  const source = sourceOf(entry, currency, model, parent)
  if (!source || 'problem' in source) return source ?? INHERITED
  const prices = scalePrices(source.prices, parseFactor(entry.factor) ?? 0n)
  return prices ? { origin: source.origin, prices } : { problem: 'a price becomes too large' }
}

/** Returns undefined if there is nothing to multiply: for a free model, or one that is not sold. */
function sourceOf(
  { of, factor }: FactorRule,
  currency: string,
  { free, routes }: ModelRow,
  parent: Effective,
) {
  if (of === 'parent') {
    const { prices, version } = parent
    if (!prices || version === undefined) return undefined
    return { prices, origin: { of, factor, from_version: version } }
  }
  if (free) return undefined
  const found = findDearestCost(routes, currency)
  if ('problem' in found) return found
  return { prices: found.costs, origin: { of, factor, cost_versions: found.versions } }
}

/** Returns what customers of a list pay: its versions, and the parent's where it inherits. */
export function effectiveOf(
  list: string,
  versions: readonly ListVersion[],
  parent: readonly Effective[],
  atMs: number,
): Effective[] {
  if (versions.length === 0) return [...parent]
  const moments = [atMs, ...versions.map(({ from }) => from), ...parent.map(({ from }) => from)]
  const ordered = [...new Set(moments)].filter((one) => one >= atMs).sort((a, b) => a - b)
  return ordered.map((from) => {
    const own = decidingVersion(versions, from)
    if (!own) return { ...effectiveAt(parent, from), from }
    if (!own.prices) return { from, isHidden: true as const }
    return { from, prices: own.prices, version: own.version, list }
  })
}
