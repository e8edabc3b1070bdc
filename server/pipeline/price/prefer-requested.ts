/** Facts of media: what the request asked for, and what the answer says was made. */
import type { Facts, PriceEntry } from '../../catalog/catalog.ts'
import { namesValue } from '../../catalog/price/conditions.ts'

/**
 * A request's own words decide where a price names them: the hold was taken by them, and vendors
 * answer `2K` with a size in pixels. Words that no price names do not keep what was made from being
 * charged as what it is.
 */
export function preferAsked(
  prices: readonly PriceEntry[],
  asked: Facts,
  served: Facts,
): Record<string, Facts[string]> {
  const facts: Record<string, Facts[string]> = { ...served, ...asked }
  for (const [name, made] of Object.entries(served)) {
    const wanted = asked[name]
    if (wanted !== undefined && !namesValue(prices, name, wanted)) facts[name] = made
  }
  return facts
}
