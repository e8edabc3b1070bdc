/** A text model to add: the form's values, and the request made from them. */

import { NEW_PRICE, type PriceDraft } from '../../../components/form/prices/price-draft.ts'
import { plainNumber } from '../../../lib/nanos.ts'

/** The types that are sold by tokens of text alone. */
export const TEXT_TYPES = ['chat', 'embedding'] as const

export interface NewModel {
  readonly upstreamModel: string
  readonly id: string
  readonly type: (typeof TEXT_TYPES)[number]
  /** Amounts per 1,000,000 tokens. */
  readonly input: string
  readonly output: string
  readonly cached: string
}

/** A vendor's name becomes the callers' name; of `models/x` only `x`. */
export function draftModel(upstreamModel: string): NewModel {
  return {
    upstreamModel,
    id: upstreamModel.replace(/^models\//, ''),
    type: /embed/i.test(upstreamModel) ? 'embedding' : 'chat',
    input: '',
    output: '',
    cached: '',
  }
}

/** Leaves a price without an amount out: the price of the input applies instead. */
export function listPrices({ type, input, output, cached }: NewModel): PriceDraft[] {
  const prices = [{ ...NEW_PRICE, amount: input }]
  if (type === 'embedding') return prices
  prices.push({ ...NEW_PRICE, unit: 'output_token', amount: output })
  if (plainNumber(cached) === '') return prices
  return [...prices, { ...NEW_PRICE, unit: 'cached_input_token', amount: cached }]
}
