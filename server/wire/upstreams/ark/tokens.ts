/**
 * Counts the tokens of a video (docs/protocols/ark.md#video-tokens): 24 frames a second and one
 * more, times the pixels, by 1024. Input video adds its seconds, at least two thirds of the
 * output's.
 */
import type { Family } from './families.ts'

const FRAMES_PER_SECOND = 24

export interface VideoMeasure {
  readonly resolution: string
  /** For `adaptive` the ratio with the most pixels counts. */
  readonly ratio: string
  readonly seconds: number
  readonly inputSeconds: number
}

export function countVideoTokens(family: Family, measure: VideoMeasure): number {
  const pixels = pixelsOf(family, measure.resolution, measure.ratio)
  const seconds = measure.seconds + measure.inputSeconds
  return Math.floor(((FRAMES_PER_SECOND * seconds + 1) * pixels) / 1024)
}

/** Returns the fewest input seconds that are billed for a request with input video. */
export function leastInputSeconds(seconds: number): number {
  return Math.ceil((5 * seconds) / 3) - seconds
}

function pixelsOf(family: Family, resolution: string, ratio: string): number {
  const { pixels } = family
  // Own members only: a vendor may state any word, such as the name of an inherited member.
  const known = Object.hasOwn(pixels, resolution) ? pixels[resolution] : undefined
  const sizes = known ?? largest(Object.values(pixels))
  const turned = ratio === '9:16' ? '16:9' : ratio === '3:4' ? '4:3' : ratio
  const size = Object.hasOwn(sizes, turned) ? sizes[turned] : undefined
  return size ?? Math.max(...Object.values(sizes))
}

/** Returns the sizes of the largest resolution, for a resolution that is not in the table. */
function largest(
  sizes: readonly Readonly<Record<string, number>>[],
): Readonly<Record<string, number>> {
  return sizes.reduce((most, one) => ((one['16:9'] ?? 0) > (most['16:9'] ?? 0) ? one : most), {})
}
