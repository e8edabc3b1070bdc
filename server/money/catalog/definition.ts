/**
 * The definition of a model: what an operator decides about it, in the form of a catalog file. Both
 * files and rows are converted to it, so that an apply compares two definitions and an export reads
 * one. It is derived from the row and not stored beside it, since a gateway of an earlier version
 * would change only the row.
 */
import type { ModelRow, PlannedRow, StoredPrice } from './store.ts'

/** Prices that take effect in the future. */
export interface PricePlan {
  readonly effective_from: string
  readonly prices: readonly StoredPrice[]
}

type Defined = Pick<
  ModelRow,
  'type' | 'free' | 'currency' | 'prices' | 'routes' | 'fallbacks' | 'limits' | 'details'
>

/** Omits versions, which the catalog assigns to prices and costs. */
export function definitionOf(model: Defined, plans: readonly PricePlan[]) {
  const { type, free, currency, prices, limits, details } = model
  const toChannels = model.routes.map(({ upstream_cost_version: _version, ...route }) => route)
  const routes = [...toChannels, ...model.fallbacks]
  return { type, free, currency, prices, planned_prices: plans, routes, limits, details }
}

export function pricePlanOf({ effective_from: from, prices }: PlannedRow): PricePlan {
  return { effective_from: from.toISOString(), prices }
}

/** Sorts plans by their start. */
export function inOrder(plans: readonly PricePlan[]): PricePlan[] {
  return plans.toSorted((a, b) => Date.parse(a.effective_from) - Date.parse(b.effective_from))
}
