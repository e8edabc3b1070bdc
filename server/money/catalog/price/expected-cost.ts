/**
 * Computes what a typical call costs on a route, by which `"routing": "cheapest"` orders routes.
 * The result is the same for every call, so that a conversation stays on its channel. Pure.
 */
import type { Nanos } from '../../../base/lib/money.ts'
import type { Quantities, Unit } from '../../../base/lib/units.ts'
import type { ModelType, PriceEntry } from '../catalog.ts'
import { priceCharge, priceUpperBound } from './price.ts'

/** The assumed mix of a text call: three input tokens for each output token. */
const OF_TEXTS: Quantities = { input_token: 3_000, output_token: 1_000, call: 1 }
const OF_MEDIA: Quantities = {
  ...OF_TEXTS,
  audio_input_token: 1_000,
  audio_output_token: 1_000,
  image_output_token: 1_000,
  search_unit: 1,
  character: 1_000,
  second: 10,
  image: 1,
  task: 1,
}
const TEXT_TYPES: ReadonlySet<ModelType> = new Set(['chat', 'embedding', 'moderation'])

/**
 * Returns undefined if the cost is unknown: without costs, with costs that the vendor states
 * afterwards, or without a cost for the units of a typical call.
 */
export function expectedCost(entries: readonly PriceEntry[], type: ModelType): Nanos | undefined {
  const units = new Set(entries.map(({ unit }) => unit))
  if (units.has('vendor_cost')) return undefined
  const usual = Object.entries(TEXT_TYPES.has(type) ? OF_TEXTS : OF_MEDIA)
  const quantities: Quantities = Object.fromEntries(
    usual.filter(([unit]) => units.has(unit as Unit)),
  )
  if (Object.keys(quantities).length === 0) return undefined
  const { totalNanos, unpriced } = priceCharge(entries, quantities, {})
  return unpriced.length === 0 ? totalNanos : priceUpperBound(entries, quantities, [{}])
}
