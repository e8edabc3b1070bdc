/** Merges the facts of requested media with those of the generated media. */
import type { Facts, PriceEntry } from '../../../money/catalog/catalog.ts'
import { namesValue } from '../../../money/catalog/price/conditions.ts'

/**
 * Returns the served value of each fact that a price names: it is what the vendor made, and bills.
 * A value that no price names gives way to a requested one that may be the same in other words, as
 * vendors answer `2K` with a size in pixels.
 */
export function preferRequested(
  prices: readonly PriceEntry[],
  requested: Facts,
  served: Facts,
): Record<string, Facts[string]> {
  const facts: Record<string, Facts[string]> = { ...requested, ...served }
  for (const [name, servedValue] of Object.entries(served)) {
    const value = requested[name]
    if (value === undefined || namesValue(prices, name, servedValue)) continue
    if (namesValue(prices, name, value) && maySame(value, servedValue)) facts[name] = value
  }
  return facts
}

/** Vendors round the sides of a picture to multiples of 8, 16 or 64. */
const ROUNDING = 1.15
const SIDE = 1024

/** Returns false for sizes that state different numbers of pixels. */
function maySame(requested: Facts[string], served: Facts[string]): boolean {
  if (typeof requested !== 'string' || typeof served !== 'string') return true
  // Pictures of one answer have several sizes.
  if (/\dx\d+ /i.test(served)) return false
  const [one, other] = [readSize(requested), readSize(served)]
  if (one === undefined || other === undefined) return true
  if (one.pixels === undefined || other.pixels === undefined) return one.side === other.side
  const [less = 0, more = 0] = [one.pixels, other.pixels].sort((a, b) => a - b)
  return more <= less * ROUNDING
}

/** A size in pixels, or in thousands of pixels a side: `2K` is any size of about 2048 by 2048. */
interface Size {
  readonly side: number
  readonly pixels?: number
}

function readSize(size: string): Size | undefined {
  const [, side] = /^([1-9])K$/i.exec(size.trim()) ?? []
  if (side !== undefined) return { side: Number(side) }
  const pixels = readPixels(size)
  if (pixels === undefined) return undefined
  return { side: Math.max(1, Math.round(Math.sqrt(pixels) / SIDE)), pixels }
}

function readPixels(size: string): number | undefined {
  const [, width, height] = /^(\d{1,5}) ?[x*×] ?(\d{1,5})$/i.exec(size.trim()) ?? []
  return width === undefined ? undefined : Number(width) * Number(height)
}
