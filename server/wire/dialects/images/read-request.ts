/** Reads from an image request the most images, their size, and the facts that prices compare. */
import { asString, type JsonObject, member } from '../../../base/lib/json.ts'

/** The most images that any vendor makes in one call. */
export const IMAGES_MAX = 15

/** A square of 2048 pixels, the largest that a model chooses by itself. */
const TOKENS_UNSTATED = 16_384
/** Tokens of the most expensive image of a vendor that does not count by pixels. */
const TOKENS_LEAST = 6_240
const PIXELS_PER_TOKEN = 256
const PREVIEW_TOKENS = 100
const FACTS = ['size', 'quality', 'style'] as const

/** Returns the most images of a request: `n`, or as many as a sequence may have. */
export function countImagesMost(value: JsonObject): number {
  const requestedImages = typeof value.n === 'number' ? value.n : 1
  if (value.sequential_image_generation !== 'auto') return requestedImages
  const most = member(value.sequential_image_generation_options, 'max_images')
  return typeof most === 'number' ? Math.max(requestedImages, most) : IMAGES_MAX
}

/** Returns the most tokens of one image of the request, its previews included. */
export function countTokensMost(value: JsonObject): number {
  const previews = typeof value.partial_images === 'number' ? value.partial_images : 0
  return tokensOfSize(asString(value.size) ?? 'auto') + previews * PREVIEW_TOKENS
}

function tokensOfSize(size: string): number {
  const [, side] = /^([1-9])K$/i.exec(size) ?? []
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size) ?? []
  const pixels = side ? (Number(side) * 1024) ** 2 : Number(width) * Number(height)
  if (Number.isNaN(pixels)) return TOKENS_UNSTATED
  return Math.max(Math.ceil(pixels / PIXELS_PER_TOKEN), TOKENS_LEAST)
}

/** Returns the facts that are certain before the answer, which `auto` is not. */
export function readImageFacts(value: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    FACTS.flatMap((name) => {
      const fact = asString(value[name])
      return fact === undefined || fact === 'auto' ? [] : [[name, fact]]
    }),
  )
}
