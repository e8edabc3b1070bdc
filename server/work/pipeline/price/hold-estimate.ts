/** The estimate that a hold is taken for, and the amount of the hold. Pure. */

import type { Nanos } from '../../../base/lib/money.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import type { Facts, Model } from '../../../money/catalog/catalog.ts'
import {
  explainUpperBound,
  type PriceLine,
  priceUpperBound,
} from '../../../money/catalog/price/price.ts'
import type { Ceiling } from './ceiling.ts'
import { findUnsold } from './dimensions.ts'

/** The expected quantities of a request, and the ways in which it may be served. */
export interface HoldEstimate {
  readonly quantities: Quantities
  /** Facts under which it may be served; the first are those of the request. */
  readonly alternatives: readonly [Facts, ...Facts[]]
  /** Price facts from the settings of each channel that may serve it. */
  readonly channels: readonly Facts[]
  /** Requested work of other models. */
  readonly works?: readonly OtherModelWork[]
  readonly ceiling: Ceiling
}

export interface OtherModelWork {
  readonly facts: Facts
  readonly quantities: Quantities
}

/** Returns the amount to hold: the most expensive way in which the request may be served. */
export function boundHold(
  { free, prices }: Pick<Model, 'free' | 'prices'>,
  estimate: HoldEstimate,
): Nanos {
  if (free) return 0n
  const { quantities, channels, works = [] } = estimate
  const alternatives = waysOf(prices, estimate)
  let total = priceUpperBound(prices, quantities, alternatives, channels)
  for (const work of works) {
    total += priceUpperBound(prices, work.quantities, [work.facts], channels)
  }
  return total
}

/** Returns the lines that add up to the amount to hold. */
export function explainHold(
  { free, prices }: Pick<Model, 'free' | 'prices'>,
  estimate: HoldEstimate,
): readonly PriceLine[] {
  if (free) return []
  const { quantities, channels, works = [] } = estimate
  const alternatives = waysOf(prices, estimate)
  const lines = [...explainUpperBound(prices, quantities, alternatives, channels).lines]
  for (const work of works) {
    const { model } = work.facts
    const own = explainUpperBound(prices, work.quantities, [work.facts], channels).lines
    lines.push(...own.map((line) => (typeof model === 'string' ? { ...line, model } : line)))
  }
  return lines
}

const USUAL: Facts = { service_tier: 'standard', speed: 'standard', region: 'global' }

/**
 * Returns the ways in which the request may be served. A vendor that states the cost of each call
 * is sold in ways that no other price names: these are held at the usual prices too.
 */
function waysOf(
  prices: Model['prices'],
  { quantities, alternatives, channels }: HoldEstimate,
): readonly Facts[] {
  if (!prices.some(({ unit }) => unit === 'vendor_cost')) return alternatives
  return alternatives.flatMap((facts) => {
    const isSold = channels.every((of) => !findUnsold(prices, quantities, { ...of, ...facts }))
    return isSold ? [facts] : [facts, { ...facts, ...USUAL }]
  })
}
