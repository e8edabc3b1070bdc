/** Converts stored rows to the models that the pipeline uses, for any point in time. */
import { isDeepStrictEqual } from 'node:util'
import { parseAmount } from '../../../base/lib/money.ts'
import type { Unit } from '../../../base/lib/units.ts'
import type { Fallback, Model, ModelType, PlannedPrice, PriceEntry, Route } from '../catalog.ts'
import { expectedCost } from '../price/expected-cost.ts'
import type { ModelRow, PlannedRow, StoredPrice, StoredRoute } from '../store.ts'

/** `planned` holds the plans of this model, ordered by their start. */
export function loadModel(row: ModelRow, planned: readonly PlannedRow[]): Model {
  const begun = row.effective_from?.getTime() ?? 0
  return {
    id: row.id,
    type: row.type,
    free: row.free,
    ...(row.details.unpriced_tools === 'refuse' ? { unpricedTools: 'refuse' as const } : {}),
    limits: row.limits,
    routes: loadRoutes(row),
    ...(row.fallbacks.length > 0 ? { fallbacks: inOrder(row.fallbacks) } : {}),
    prices: readPrices(row.prices ?? [], row.type),
    priceVersion: row.price_version,
    currency: row.currency ?? 'CNY',
    plannedPrices: planned
      .filter((one) => one.effective_from.getTime() >= begun && one.version !== row.price_version)
      .map((one) => loadPlanned(one, row.type)),
    details: row.details,
    updatedAt: row.updated_at,
  }
}

function inOrder(fallbacks: readonly Fallback[]): Fallback[] {
  return fallbacks.toSorted((a, b) => a.priority - b.priority)
}

function loadRoute(
  { costs, currency, upstream_cost_version: version, ...stored }: StoredRoute,
  type: ModelType,
): Route {
  const { channel, upstream_model: upstreamModel, priority, weight } = stored
  const route = { channel, upstreamModel, priority, weight }
  if (!costs || !currency || version === undefined) return route
  const entries = readPrices(costs, type)
  return { ...route, cost: { version: BigInt(version), currency, entries } }
}

/**
 * Returns the routes of a model, with their costs if the cheapest is tried first. Costs in
 * different currencies cannot be compared: those in a currency other than the model's count as
 * unknown.
 */
export function loadRoutes({
  routes,
  type,
  currency,
  details,
}: Pick<ModelRow, 'routes' | 'type' | 'currency' | 'details'>): Route[] {
  const loaded = routes.map((route) => loadRoute(route, type))
  if (details.routing !== 'cheapest') return loaded
  const common = currency ?? loaded.find(({ cost }) => cost)?.cost?.currency
  return loaded.map((route) => {
    const { cost } = route
    const expected = cost?.currency === common && cost ? expectedCost(cost.entries, type) : null
    return { ...route, expectedCost: expected ?? null }
  })
}

function loadPlanned(row: PlannedRow, type: ModelType): PlannedPrice {
  const { version, effective_from: effectiveFrom, currency } = row
  return { version, effectiveFrom, currency, prices: readPrices(row.prices, type) }
}

/**
 * Returns the model with the prices in effect at `nowMs`, or the same object if no plan has begun.
 */
export function modelAt(model: Model, nowMs: number): Model {
  const begun = model.plannedPrices.filter(({ effectiveFrom }) => effectiveFrom.getTime() <= nowMs)
  const last = begun.at(-1)
  if (!last) return model
  const { version: priceVersion, currency, prices } = last
  const plannedPrices = model.plannedPrices.slice(begun.length)
  return { ...model, priceVersion, currency, prices, plannedPrices }
}

/** Converts stored prices to entries; `type` is the type of a model or the kind of a task. */
export function readPrices(stored: readonly StoredPrice[], type?: string): PriceEntry[] {
  const prices = stored.map(({ unit, per, amount, when }): PriceEntry => {
    const amountNanos = parseAmount(amount)
    if (amountNanos === undefined) throw new Error(`invalid amount of a stored price: "${amount}"`)
    return { unit, per, amountNanos, ...(when ? { when } : {}) }
  })
  return type === undefined || TEXT_TYPES.has(type) ? prices : [...prices, ...forMedia(prices)]
}

const TEXT_TYPES: ReadonlySet<string> = new Set(['chat', 'embedding', 'response'])

/** The unit whose price is used for media tokens if a media model has no price for them. */
const TOKENS_OF_MEDIA: readonly (readonly [medium: Unit, plain: Unit])[] = [
  ['audio_input_token', 'input_token'],
  ['audio_output_token', 'output_token'],
  ['image_output_token', 'output_token'],
]

/** Returns the prices as they were written, without those that forMedia adds. */
export function writtenPrices({ type, prices }: Pick<Model, 'type' | 'prices'>): PriceEntry[] {
  if (TEXT_TYPES.has(type)) return [...prices]
  return prices.filter((entry) => {
    const plain = TOKENS_OF_MEDIA.find(([medium]) => medium === entry.unit)?.[1]
    return !prices.some(
      (one) => one.unit === plain && isDeepStrictEqual({ ...one, unit: entry.unit }, entry),
    )
  })
}

/**
 * On an image or audio model, a single token price applies to media tokens too: they are the
 * majority, and older price lists have no other unit. On a text model they have their own prices.
 */
function forMedia(prices: readonly PriceEntry[]): PriceEntry[] {
  return TOKENS_OF_MEDIA.flatMap(([medium, plain]) => {
    if (prices.some(({ unit }) => unit === medium)) return []
    return prices.filter(({ unit }) => unit === plain).map((one) => ({ ...one, unit: medium }))
  })
}
