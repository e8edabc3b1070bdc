/**
 * Reads the maximum number of images, their size and the price conditions from an image request.
 */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { foldForms } from '../../../base/lib/text/fold-forms.ts'
import { foldKey } from '../json-scan.ts'
import { readCount } from '../usage/read-count.ts'

/** The most images that any vendor makes in one call. */
export const IMAGES_MAX = 15
/** The most images that an answer may state: some vendors have a further parameter for them. */
export const IMAGES_STATED_MAX = 128
/** Other vendors' names for `n`, without the marks between their words. */
const OTHER_COUNTS: ReadonlySet<string> = new Set(
  `n numimages numberofimages nimages imagecount imagescount imagenum imagesnum maximages
  numimagesperprompt imagesperprompt numoutputs outputcount numsamples samplecount samples
  batchsize batchcount numresults numgenerations numreturnsequences candidatecount
  numvariations`.split(/\s+/),
)
/** Members and lists in which they may stand: `parameters`, `instances[0].config`. */
const DEPTH = 6

/** A square of 2048 pixels, the largest that a model chooses by itself. */
const TOKENS_UNSTATED = 16_384
/** Tokens of the most expensive image of a vendor that does not count by pixels. */
const TOKENS_LEAST = 6_240
const PIXELS_PER_TOKEN = 256
const PREVIEW_TOKENS = 100
const FACTS = ['size', 'quality', 'style'] as const

/**
 * Returns the most images of a request: `n`, a number under another vendor's name for it, or as
 * many as a sequence may have.
 */
export function countImagesMost(value: JsonObject): number {
  const { sequential_image_generation_options: _, ...plain } = value
  const requestedImages = Math.max(1, countInside(plain, DEPTH))
  if (value.sequential_image_generation !== 'auto') return requestedImages
  const most = member(value.sequential_image_generation_options, 'max_images')
  return typeof most === 'number' ? Math.max(requestedImages, most) : IMAGES_MAX
}

/** Several members may state the same number, whereas the items of a list are separate orders. */
function countInside(value: object, depth: number): number {
  let most = 0
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item !== 'object' || item === null || depth === 0) continue
      most = Math.min(most + countInside(item, depth - 1), IMAGES_STATED_MAX)
    }
    return most
  }
  for (const [name, inner] of Object.entries(value)) {
    most = Math.min(Math.max(most, countMember(name, inner, depth)), IMAGES_STATED_MAX)
  }
  return most
}

function countMember(name: string, inner: unknown, depth: number): number {
  const isContainer = typeof inner === 'object' && inner !== null
  const inside = isContainer && depth > 0 ? countInside(inner, depth - 1) : 0
  if (isObject(inner) || !isCountName(name)) return inside
  if (!Array.isArray(inner)) return readNumber(inner)
  return Math.max(inside, ...inner.slice(0, IMAGES_STATED_MAX).map(readNumber))
}

/** The signs between the words of a name. */
const MARKS = /[^\p{L}\p{N}]/gu
const NAME_LENGTH_MAX = 40
const COUNT_LENGTH_MAX = Math.max(...[...OTHER_COUNTS].map((name) => name.length))

function isCountName(name: string): boolean {
  const letters = foldForms(name.slice(0, NAME_LENGTH_MAX)).replace(MARKS, '')
  if (letters.length > COUNT_LENGTH_MAX) return false
  // In lower case, İ becomes an i and a combining mark.
  return OTHER_COUNTS.has(foldKey(letters).replace(MARKS, ''))
}

/**
 * Some vendors also read a number from a string. A string whose number only they can read, such as
 * one in the digits of another script, counts as the maximum number of images per call.
 */
function readNumber(value: unknown): number {
  if (typeof value !== 'string') return readCount(value) ?? 0
  const text = foldForms(value.slice(0, NAME_LENGTH_MAX)).replaceAll('_', '').trim()
  const count = text === '' ? undefined : readCount(Number(text))
  return count ?? (/[^\P{Nd}0-9]/u.test(text) ? IMAGES_MAX : 0)
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
  if (!Number.isNaN(pixels)) return Math.max(tokensOfPixels(pixels), TOKENS_LEAST)
  return Math.max(tokensOfPixels(pixelsIn(size)), TOKENS_UNSTATED)
}

const tokensOfPixels = (pixels: number) => Math.ceil(pixels / PIXELS_PER_TOKEN)

/** Returns the pixels of a size in another notation, by the first two numbers in it; or 0. */
function pixelsIn(size: string): number {
  const sides = foldForms(size).match(/\d{3,5}/g) ?? []
  const [width = 0, height = width] = sides.map(Number)
  return width * height
}

/** Returns the price conditions that are certain before the answer, which `auto` is not. */
export function readImageFacts(value: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    FACTS.flatMap((name) => {
      const fact = asString(value[name])
      return fact === undefined || fact === 'auto' ? [] : [[name, fact]]
    }),
  )
}
