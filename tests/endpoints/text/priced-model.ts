/** A text model with limits and prices, for quotes without a gateway. */
import type { Model } from '../../../server/money/catalog/catalog.ts'

export const model: Model = {
  id: 'm',
  type: 'chat',
  free: false,
  limits: { max_input_tokens: 1_000_000, max_output_tokens: 8_192 },
  routes: [],
  prices: [
    { unit: 'input_token', per: 1, amountNanos: 3n },
    { unit: 'output_token', per: 1, amountNanos: 15n },
  ],
  priceVersion: 1n,
  plannedPrices: [],
  currency: 'USD',
  details: {},
  updatedAt: new Date(0),
}
