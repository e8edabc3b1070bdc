/** The part of an estimate that budgets and rates of tokens count. */
import { type Quantities, TOKEN_UNITS, type Unit } from '../../../base/lib/units.ts'
import type { Model } from '../../../money/catalog/catalog.ts'
import { isSoldByTokens } from '../price/charge.ts'

const TOKENS: ReadonlySet<string> = new Set<Unit>(TOKEN_UNITS)

/**
 * Returns the estimate without tokens if the model is not sold by them. Endpoints estimate in every
 * unit that a model may have. For a video sold by the second, no record would ever state its
 * tokens, and a token budget would refuse, and count, tokens that nobody is billed for.
 */
export function countedQuantities(
  { type, prices }: Pick<Model, 'type' | 'prices'>,
  quantities: Quantities,
): Quantities {
  if (isSoldByTokens({ type }) || prices.some(({ unit }) => TOKENS.has(unit))) return quantities
  return Object.fromEntries(Object.entries(quantities).filter(([unit]) => !TOKENS.has(unit)))
}
