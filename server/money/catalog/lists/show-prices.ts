/** Shows operators the prices that customers of a list pay, and their origin. */
import type { Sql, TransactionSql } from 'postgres'
import { formatAmount } from '../../../base/lib/money.ts'
import { isSoldIn, type Model, type Origin, type PriceEntry } from '../catalog.ts'
import { findPriceProblems } from '../compare-costs.ts'
import { BASE } from '../list.ts'
import { type Payer, soldTo } from '../load/load-lists.ts'
import { loadPrices } from '../load/load-prices.ts'
import { findDearestCost } from '../price/dearest-cost.ts'
import type { ModelRow, StoredPrice } from '../store.ts'

export interface ShownPrice {
  readonly model: string
  readonly currency: string
  /** The list that the prices are of; null for a free model. */
  readonly list: string | null
  readonly version: string | null
  /** Null for base prices. */
  readonly origin: Origin | null
  readonly prices: readonly StoredPrice[]
  /** Null where the base list has none in this currency. */
  readonly base_prices: readonly StoredPrice[] | null
  /** Upstream costs of the dearest route; null if they are unknown. */
  readonly cost: readonly StoredPrice[] | null
  /** A price is below the cost of a route. */
  readonly is_below_cost: boolean
}

/** Lists the models that a customer can see, by the look-up of the calls themselves. */
export async function showPrices(
  sql: Sql | TransactionSql,
  payer: Payer,
  modelId?: string,
): Promise<ShownPrice[]> {
  const { snapshot, rows } = await loadPrices(sql)
  const models = soldTo(snapshot, payer)?.models.values() ?? []
  return [...models]
    .filter((model) => isSoldIn(model, payer.currency))
    .filter(({ id }) => modelId === undefined || id === modelId)
    .flatMap((model) => {
      const row = rows.get(model.id)
      return row ? [show(model, row, payer.currency)] : []
    })
}

function show(model: Model, row: ModelRow, currency: string): ShownPrice {
  const { id, list, free, priceVersion } = model
  const prices = model.prices.map(store)
  const costs = findDearestCost(row.routes, currency)
  const sold = { free, currency, prices, routes: row.routes }
  const base = list ? list.basePrices?.map(store) : prices
  return {
    model: id,
    currency,
    list: free ? null : (list?.id ?? BASE),
    version: priceVersion?.toString() ?? null,
    origin: list?.origin ?? null,
    prices,
    base_prices: base ?? null,
    cost: 'costs' in costs ? costs.costs : null,
    is_below_cost: findPriceProblems(sold).some(({ problem }) => problem === 'below_cost'),
  }
}

function store({ unit, per, amountNanos, when }: PriceEntry): StoredPrice {
  return { unit, per, amount: formatAmount(amountNanos), ...(when ? { when } : {}) }
}
