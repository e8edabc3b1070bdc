/** What a hold was taken for, what it comes to, and the arithmetic of it. Pure. */
import type { Facts, Model } from '../../catalog/catalog.ts'
import { explainUpperBound, type PriceLine, priceUpperBound } from '../../catalog/price/price.ts'
import type { Nanos } from '../../lib/money.ts'
import type { Quantities } from '../../lib/units.ts'
import type { Ceiling } from './ceiling.ts'

/** What a request should come to, and how it may be served. */
export interface Held {
  readonly quantities: Quantities
  /** Facts of the request; the first are what the caller asked for. */
  readonly alternatives: readonly [Facts, ...Facts[]]
  /** What the settings of each channel that may serve it say of the price. */
  readonly channels: readonly Facts[]
  /** Work of other models that the request asks for. */
  readonly works?: readonly HeldWork[]
  readonly ceiling: Ceiling
}

export interface HeldWork {
  readonly facts: Facts
  readonly quantities: Quantities
}

/** The amount to hold: the dearest of all ways in which the request may be served. */
export function boundHold({ free, prices }: Pick<Model, 'free' | 'prices'>, held: Held): Nanos {
  if (free) return 0n
  const { quantities, alternatives, channels, works = [] } = held
  let total = priceUpperBound(prices, quantities, alternatives, channels)
  for (const work of works) {
    total += priceUpperBound(prices, work.quantities, [work.facts], channels)
  }
  return total
}

/** The lines that add up to that amount. */
export function explainHold(
  { free, prices }: Pick<Model, 'free' | 'prices'>,
  held: Held,
): readonly PriceLine[] {
  if (free) return []
  const { quantities, alternatives, channels, works = [] } = held
  const lines = [...explainUpperBound(prices, quantities, alternatives, channels).lines]
  for (const work of works) {
    const { model } = work.facts
    const own = explainUpperBound(prices, work.quantities, [work.facts], channels).lines
    lines.push(...own.map((line) => (typeof model === 'string' ? { ...line, model } : line)))
  }
  return lines
}
