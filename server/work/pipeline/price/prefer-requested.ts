/** Merges the facts of requested media with those of the generated media. */
import type { Facts, PriceEntry } from '../../../money/catalog/catalog.ts'
import { namesValue } from '../../../money/catalog/price/conditions.ts'

/**
 * Returns the served value of each price condition, since it is what the vendor made and bills. A
 * value that no price names is replaced by a requested one that may mean the same, because vendors
 * answer `2K` with a size in pixels.
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
  if (one.pixels === undefined || other.pixels === undefined) {
    // Only served sizes are compared by their long side: it never makes a picture larger than
    // requested.
    return one.side === other.side || one.side === other.longSide
  }
  const [less = 0, more = 0] = [one.pixels, other.pixels].sort((a, b) => a - b)
  return more <= less * ROUNDING
}

/**
 * A size in pixels, or in thousands of pixels a side: `2K` is any size of about 2048 by 2048, and
 * `4K` also one with a long side of 3840 to 4096, as films have it.
 */
interface Size {
  readonly side: number
  readonly longSide?: number
  readonly pixels?: number
}

function readSize(size: string): Size | undefined {
  const [, side] = /^([1-9])K$/i.exec(size.trim()) ?? []
  if (side !== undefined) return { side: Number(side) }
  const [width, height] = readSides(size) ?? []
  if (width === undefined || height === undefined) return undefined
  const pixels = width * height
  const longSide = Math.ceil(Math.max(width, height) / SIDE)
  const isFull = Math.max(width, height) >= longSide * SIDE * FILM_SHARE
  return {
    side: Math.max(1, Math.round(Math.sqrt(pixels) / SIDE)),
    ...(isFull && { longSide }),
    pixels,
  }
}
/** 3840 of 4096. */
const FILM_SHARE = 0.9375

function readSides(size: string): readonly number[] | undefined {
  const [, ...sides] = /^(\d{1,5}) ?[x*×] ?(\d{1,5})$/i.exec(size.trim()) ?? []
  return sides.length === 0 ? undefined : sides.map(Number)
}
