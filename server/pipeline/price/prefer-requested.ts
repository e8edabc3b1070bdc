/** Merges the facts of requested media with those of the generated media. */
import type { Facts, PriceEntry } from '../../catalog/catalog.ts'
import { namesValue } from '../../catalog/price/conditions.ts'

/**
 * Returns the requested value of each fact that a price names, since the hold was taken for it and
 * vendors answer `2K` with a size in pixels. Otherwise returns the value that was served.
 */
export function preferRequested(
  prices: readonly PriceEntry[],
  requested: Facts,
  served: Facts,
): Record<string, Facts[string]> {
  const facts: Record<string, Facts[string]> = { ...served, ...requested }
  for (const [name, servedValue] of Object.entries(served)) {
    const value = requested[name]
    if (value !== undefined && !namesValue(prices, name, value)) facts[name] = servedValue
  }
  return facts
}
