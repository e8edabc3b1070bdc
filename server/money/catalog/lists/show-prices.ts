/** Shows operators the prices that customers of a list pay, and their origin. */
import type { Sql, TransactionSql } from 'postgres'
import { formatAmount } from '../../../base/lib/money.ts'
import { isSoldIn, type Model, type Origin, type PriceEntry } from '../catalog.ts'
import { compareCosts, findPriceProblems, type UnitMargin } from '../compare-costs.ts'
import { BASE } from '../list.ts'
import { hiddenBy, type Payer, soldTo } from '../load/load-lists.ts'
import { writtenPrices } from '../load/load-model.ts'
import { type LoadedPrices, loadPrices } from '../load/load-prices.ts'
import { findDearestCost } from '../price/dearest-cost.ts'
import type { ModelRow, StoredPrice } from '../store.ts'

export interface ShownPrice {
  readonly model: string
  readonly currency: string
  /** False for a model that a list hides, or that has no price in the currency. */
  readonly is_sold: boolean
  /** The list that the prices come from, or that hides the model; null for a free model. */
  readonly list: string | null
  readonly version: string | null
  /** Null for base prices. */
  readonly origin: Origin | null
  readonly prices: readonly StoredPrice[]
  /** Null where the base list has none in this currency. */
  readonly base_prices: readonly StoredPrice[] | null
  /** Upstream costs of the most expensive route; null if they are unknown. */
  readonly cost: readonly StoredPrice[] | null
  /** The reason for unknown costs. */
  readonly cost_problem: string | null
  /** Each price compared with the costs of each route. */
  readonly margins: readonly UnitMargin[]
  /** A price is below the cost of a route. */
  readonly is_below_cost: boolean
}

/** Lists the models that a customer can see, by the same look-up as for calls. */
export async function showPrices(
  sql: Sql | TransactionSql,
  payer: Payer,
  modelId?: string,
): Promise<ShownPrice[]> {
  const loaded = await loadPrices(sql)
  return [...loaded.rows.values()]
    .filter(({ id }) => modelId === undefined || id === modelId)
    .map((row) => showPrice(loaded, row, payer))
    .filter((shown) => shown.is_sold)
}

/** Shows what a customer pays for a model, even if it is not sold to them. */
export function showPrice(
  { snapshot }: Pick<LoadedPrices, 'snapshot'>,
  row: ModelRow,
  payer: Payer,
): ShownPrice {
  const { currency, priceList } = payer
  const found = soldTo(snapshot, payer)?.models.get(row.id)
  const model = found && isSoldIn(found, currency) ? found : undefined
  const costs = findDearestCost(row.routes, currency)
  const shown = model ? describeSold(model) : describeUnsold(hiddenBy(snapshot, priceList, row.id))
  const { type, routes } = row
  const sold = { type, free: model?.free ?? true, currency, prices: shown.prices, routes }
  return {
    model: row.id,
    currency,
    is_sold: model !== undefined,
    ...shown,
    base_prices: basePricesOf(snapshot.models.get(row.id), currency),
    cost: 'costs' in costs ? costs.costs : null,
    cost_problem: 'problem' in costs ? costs.problem : null,
    margins: compareCosts(sold),
    is_below_cost: findPriceProblems(sold).some(({ problem }) => problem === 'below_cost'),
  }
}

function describeSold({ list, type, free, priceVersion, prices }: Model) {
  return {
    list: free ? null : (list?.id ?? BASE),
    version: priceVersion?.toString() ?? null,
    origin: list?.origin ?? null,
    prices: writtenPrices({ type, prices }).map(store),
  }
}

function describeUnsold(list = BASE) {
  const origin: Origin | null = list === BASE ? null : { hidden: true }
  return { list, version: null, origin, prices: [] }
}

function basePricesOf(base: Model | undefined, currency: string): StoredPrice[] | null {
  if (!base || !isSoldIn(base, currency)) return null
  return writtenPrices(base).map(store)
}

function store({ unit, per, amountNanos, when }: PriceEntry): StoredPrice {
  return { unit, per, amount: formatAmount(amountNanos), ...(when ? { when } : {}) }
}
