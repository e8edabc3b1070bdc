/** From stored rows to the models that the pipeline works with, at any moment of their prices. */
import { parseAmount } from '../lib/money.ts'
import type { Model, PlannedPrice, PriceEntry, Route } from './catalog.ts'
import type { ModelRow, PlannedRow, StoredPrice, StoredRoute } from './store.ts'

/** `planned`: of this model, in the order of their moments. */
export function loadModel(row: ModelRow, planned: readonly PlannedRow[]): Model {
  const begun = row.effective_from?.getTime() ?? 0
  return {
    id: row.id,
    type: row.type,
    free: row.free,
    limits: row.limits,
    routes: row.routes.map(loadRoute),
    prices: readPrices(row.prices ?? []),
    priceVersion: row.price_version,
    currency: row.currency ?? 'CNY',
    plannedPrices: planned
      .filter((one) => one.effective_from.getTime() >= begun && one.version !== row.price_version)
      .map(loadPlanned),
    details: row.details,
    updatedAt: row.updated_at,
  }
}

function loadRoute({ costs, currency, cost_version: version, ...stored }: StoredRoute): Route {
  const { channel, upstream_model: upstreamModel, priority, weight } = stored
  const route = { channel, upstreamModel, priority, weight }
  if (!costs || !currency || version === undefined) return route
  return { ...route, cost: { version: BigInt(version), currency, entries: readPrices(costs) } }
}

function loadPlanned(row: PlannedRow): PlannedPrice {
  const { version, effective_from: effectiveFrom, currency } = row
  return { version, effectiveFrom, currency, prices: readPrices(row.prices) }
}

/** The model as it is sold at that moment; the same one while nothing has begun. */
export function modelAt(model: Model, nowMs: number): Model {
  const begun = model.plannedPrices.filter(({ effectiveFrom }) => effectiveFrom.getTime() <= nowMs)
  const last = begun.at(-1)
  if (!last) return model
  const { version: priceVersion, currency, prices } = last
  const plannedPrices = model.plannedPrices.slice(begun.length)
  return { ...model, priceVersion, currency, prices, plannedPrices }
}

/** Stored prices as the pipeline computes with them. */
export function readPrices(stored: readonly StoredPrice[]): PriceEntry[] {
  return stored.map(({ unit, per, amount, when }) => {
    const amountNanos = parseAmount(amount)
    if (amountNanos === undefined) throw new Error(`a stored price is no amount: "${amount}"`)
    return { unit, per, amountNanos, ...(when ? { when } : {}) }
  })
}
