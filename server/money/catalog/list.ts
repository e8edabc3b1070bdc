/** Price lists as operators write them, and the prices that their rules yield. */
import type { Origin, OriginOrNone } from './catalog.ts'
import type { StoredPrice } from './store.ts'

/** The id of the base prices, in files and in records. */
export const BASE = 'base'
/** The most named lists between a call and the base prices, itself included. */
export const DEPTH_MAX = 3

/**
 * Amounts times a factor: of the parent list's prices, or of the costs of the most expensive route.
 */
export interface FactorRule {
  readonly of: 'parent' | 'cost'
  readonly factor: string
}

/** An entry for a model: its prices, a rule that makes them, or that it is not for sale. */
export type ListEntry = readonly StoredPrice[] | FactorRule | 'hidden'

/** Entries that apply from a time on: a planned change, or a promotion if they end. */
export interface ListPlan {
  readonly from: string
  readonly until?: string | undefined
  readonly default?: FactorRule | 'hidden' | undefined
  readonly prices: Readonly<Record<string, ListEntry>>
}

export interface ListDefinition {
  /** The rule for every model that the list does not name; absent: the parent's prices. */
  readonly default?: FactorRule | 'hidden' | undefined
  readonly prices: Readonly<Record<string, ListEntry>>
  readonly planned_prices?: readonly ListPlan[] | undefined
}

export interface PriceListRow {
  readonly id: string
  readonly currency: string
  readonly parent: string | null
  readonly account_id: string | null
  readonly status: 'active' | 'retired'
  readonly source: string
  readonly definition: ListDefinition
}

/** A version of a model's prices on a list, from a moment on. */
export interface ListVersion {
  readonly version: string
  /** Milliseconds since 1970, by the database's clock. */
  readonly from: number
  readonly origin: OriginOrNone
  /** Absent for a model that is hidden or that the parent prices. */
  readonly prices?: readonly StoredPrice[] | undefined
}

/** The versions of each model: the one in force, then those to come, in order. */
export type CompiledList = Readonly<Record<string, readonly ListVersion[]>>

/** Returns the versions of a model, of which a list may have none. */
export function versionsOf(compiled: CompiledList, model: string): readonly ListVersion[] {
  return Object.hasOwn(compiled, model) ? (compiled[model] ?? []) : []
}

/**
 * Returns the version that applies at a moment; undefined if the parent's applies. The first
 * version counts as in effect, even if the clock of this process is behind.
 */
export function decidingVersion(
  versions: readonly ListVersion[],
  atMs: number,
): (ListVersion & { readonly origin: Origin }) | undefined {
  const found = versions.findLast(({ from }) => from <= atMs) ?? versions[0]
  if (!found || 'inherit' in found.origin) return undefined
  return { ...found, origin: found.origin }
}

/** Returns the name under which prices of a model are stored: those of lists have another. */
export function priceNameOf({ id, list }: { id: string; list?: { readonly id: string } }): string {
  return list ? `${id} ${list.id}` : id
}

/** Returns a list's entry for a model at a moment; undefined if it has none. */
export function entryAt(
  { default: rule, prices, planned_prices: plans = [] }: ListDefinition,
  model: string,
  atMs: number,
): ListEntry | undefined {
  const running = plans
    .filter(({ from, until }) => {
      return Date.parse(from) <= atMs && (until === undefined || atMs < Date.parse(until))
    })
    .sort((a, b) => Date.parse(b.from) - Date.parse(a.from))
  const named = running.find((plan) => Object.hasOwn(plan.prices, model))
  if (named) return named.prices[model]
  if (Object.hasOwn(prices, model)) return prices[model]
  return running.find((plan) => plan.default !== undefined)?.default ?? rule
}

/** Returns the moments after `atMs` at which a plan of the list begins or ends. */
export function momentsOf({ planned_prices: plans = [] }: ListDefinition, atMs: number): number[] {
  const moments = plans.flatMap(({ from, until }) => [
    from,
    ...(until === undefined ? [] : [until]),
  ])
  return [...new Set(moments.map((text) => Date.parse(text)))].filter((one) => one > atMs)
}
