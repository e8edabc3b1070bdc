/** Compares prices with upstream costs, unit by unit. */
import { isDeepStrictEqual } from 'node:util'
import { divideUp, formatAmount } from '../../base/lib/money.ts'
import type { Unit } from '../../base/lib/units.ts'
import type { PriceEntry } from './catalog.ts'
import { readPrices } from './load/load-model.ts'
import type { ModelType } from './model-types.ts'
import { FALLBACK } from './price/price.ts'
import { isAnotherWay } from './price/strict-facts.ts'
import type { StoredPrice, StoredRoute } from './store.ts'

/** A price and the upstream cost of the same number of units; amounts are decimal strings. */
export interface UnitMargin {
  readonly channel: string
  readonly upstream_model: string
  readonly unit: Unit
  readonly per: number
  readonly when?: StoredPrice['when']
  readonly price: string
  /** Rounded up; null if the route has no costs, or none for this unit. */
  readonly upstream_cost: string | null
  readonly margin: string | null
  /** Fraction of the price; null for a price of zero. */
  readonly margin_share: number | null
}

export interface PriceProblem {
  /**
   * `unpriced`: a unit without a charge. `below_cost`: a price below the upstream cost.
   * `unknown_cost`: a route without costs.
   */
  readonly problem: 'unpriced' | 'below_cost' | 'unknown_cost'
  readonly unit: Unit | null
  readonly channel: string | null
}

export interface SoldModel {
  readonly type: ModelType
  readonly free: boolean
  readonly currency: string | null
  readonly prices: readonly StoredPrice[]
  readonly routes: readonly StoredRoute[]
}

/** Compares every price with the cost of every route. */
export function compareCosts({ prices, currency, routes }: SoldModel): UnitMargin[] {
  const entries = readPrices(prices)
  return routes.flatMap((route) => {
    const costs = route.currency === currency ? readPrices(route.costs ?? []) : []
    return entries.map((price) => compare(route, price, findCost(costs, price)))
  })
}

function compare(
  { channel, upstream_model }: StoredRoute,
  price: PriceEntry,
  found: PriceEntry | undefined,
): UnitMargin {
  const { unit, per, amountNanos, when } = price
  const shown = { channel, upstream_model, unit, per, price: formatAmount(amountNanos) }
  const known = when ? { ...shown, when } : shown
  if (!found) return { ...known, upstream_cost: null, margin: null, margin_share: null }
  const cost = divideUp(found.amountNanos * BigInt(per), BigInt(found.per))
  const margin = amountNanos - cost
  const share = amountNanos === 0n ? null : Number((margin * 10_000n) / amountNanos) / 10_000
  return {
    ...known,
    upstream_cost: formatAmount(cost),
    margin: formatAmount(margin),
    margin_share: share,
  }
}

/**
 * Returns the cost of the same unit and condition, or else the unconditional one. The price of a
 * non-default way of serving, such as a service tier, is never compared with the unconditional
 * cost.
 */
function findCost(costs: readonly PriceEntry[], price: PriceEntry): PriceEntry | undefined {
  for (let unit: Unit | undefined = price.unit; unit; unit = FALLBACK[unit]) {
    const own = costs.filter((cost) => cost.unit === unit)
    const same = own.find(({ when }) => isDeepStrictEqual(when, price.when))
    if (same) return same
    const always = isAnotherWay(price) ? undefined : own.find(({ when }) => !when)
    if (always) return always
  }
  return undefined
}

/**
 * Returns the price that applies wherever a cost does: of the same unit and condition, or else the
 * unconditional one. Undefined if other conditions on the same facts decide.
 */
function findPrice(prices: readonly PriceEntry[], cost: PriceEntry): PriceEntry | undefined {
  const facts = Object.keys(cost.when ?? {})
  for (let unit: Unit | undefined = cost.unit; unit; unit = FALLBACK[unit]) {
    const own = prices.filter((price) => price.unit === unit)
    const same = own.find(({ when }) => isDeepStrictEqual(when, cost.when))
    if (same) return same
    if (own.some(({ when = {} }) => facts.some((name) => Object.hasOwn(when, name))))
      return undefined
    const always = isAnotherWay(cost) ? undefined : own.find(({ when }) => !when)
    if (always) return always
  }
  return undefined
}

/** Returns the costs of a route that the price of their unit does not cover. */
function findUncovered({ prices, currency }: SoldModel, route: StoredRoute): readonly PriceEntry[] {
  if (route.currency !== currency) return []
  const entries = readPrices(prices)
  return readPrices(route.costs ?? []).filter((cost) => {
    const price = findPrice(entries, cost)
    return price && price.amountNanos * BigInt(cost.per) < cost.amountNanos * BigInt(price.per)
  })
}

/** Returns problems for the operator to review. A free model has none. */
export function findPriceProblems(sold: SoldModel): PriceProblem[] {
  if (sold.free) return []
  const unpriced = findUnpriced(sold).map((unit) => {
    return { problem: 'unpriced', unit, channel: null } as const
  })
  const losses = compareCosts(sold)
    .filter(({ margin }) => margin?.startsWith('-'))
    .map(({ unit, channel }) => ({ problem: 'below_cost', unit, channel }) as const)
  const uncovered = sold.routes.flatMap((route) => {
    const { channel } = route
    return findUncovered(sold, route).map(
      ({ unit }) => ({ problem: 'below_cost', unit, channel }) as const,
    )
  })
  const unknown = sold.routes
    .filter(({ costs, currency }) => !costs || currency !== sold.currency)
    .map(({ channel }) => ({ problem: 'unknown_cost', unit: null, channel }) as const)
  return dropRepeated([...unpriced, ...losses, ...uncovered, ...unknown])
}

/** The units of text that models of these types bill. */
const PLAIN_TOKENS: Partial<Record<ModelType, readonly Unit[]>> = {
  chat: ['input_token', 'output_token'],
  embedding: ['input_token'],
}
/** A model may be sold by one of these alone. */
const SOLD_BY: ReadonlySet<Unit> = new Set(['output_token', 'call', 'vendor_cost'])

/**
 * Returns the token units that a text model gives away: without a price, as is every unit that it
 * could be sold by alone.
 */
export function findGivenAway(
  type: ModelType,
  prices: readonly Pick<StoredPrice, 'unit'>[],
): readonly Unit[] {
  const { [type]: plain = [] } = PLAIN_TOKENS
  if (prices.length === 0 || prices.some(({ unit }) => SOLD_BY.has(unit))) return []
  return plain.filter((unit) => !prices.some((price) => price.unit === unit))
}

function findUnpriced({ type, prices, routes }: SoldModel): Unit[] {
  const always = new Set(prices.filter(({ when }) => !when).map(({ unit }) => unit))
  const conditional = prices
    .filter(({ when = {} }) => !Object.hasOwn(when, 'model'))
    .map(({ unit }) => unit)
    .filter((unit) => !always.has(unit) && !FALLBACK[unit])
  return [...conditional, ...findGivenAway(type, prices), ...findUnpricedCosts(prices, routes)]
}

/** Returns the units that a route has costs for, and that no price covers. */
export function findUnpricedCosts(
  prices: readonly Pick<StoredPrice, 'unit'>[],
  routes: readonly Pick<StoredRoute, 'costs'>[],
): readonly Unit[] {
  const costing = routes.flatMap(({ costs = [] }) => {
    // Costs in other units than the prices cannot be compared.
    const isComparable = costs.some(({ unit }) => prices.some((price) => price.unit === unit))
    if (!isComparable) return []
    return costs.filter(({ amount }) => amount !== '0').map(({ unit }) => unit)
  })
  const isSold = (unit: Unit): boolean => {
    const fallback = FALLBACK[unit]
    return prices.some((price) => price.unit === unit) || (fallback ? isSold(fallback) : false)
  }
  return [...new Set(costing)].filter((unit) => !isSold(unit))
}

function dropRepeated(problems: readonly PriceProblem[]): PriceProblem[] {
  return [...new Map(problems.map((one) => [JSON.stringify(one), one])).values()]
}
