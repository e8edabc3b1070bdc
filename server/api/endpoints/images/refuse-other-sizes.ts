/**
 * Refuses other words for what a model's price depends on. Vendors take `image_size`, `width` or
 * `resolution` beside `size`, and would make and bill another picture than the one that is held.
 */
import { invalidField } from '../../../base/lib/errors.ts'
import { isAbsent } from '../../../base/lib/json.ts'
import { foldForms } from '../../../base/lib/text/fold-forms.ts'
import type { QuotedRequest } from '../../../work/pipeline/metering.ts'

/** Words in the names of members, by the fact that such a member may decide. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  size: `size sizes imagesize width height widths heights resolution resolutions res hires highres
    aspect ratio dimension dimensions dims pixel pixels px megapixel megapixels mp side sides edge
    upscale upscaler upscaling scale`.split(/\s+/),
  quality: ['quality', 'hd'],
}
/** Parts of names: `imageSize` and `image_size` are two words each. */
const WORD = /[A-Z]?[a-z]+|[A-Z]+/g
/** Members that hold pictures, and one that decides no size. */
const OTHERS: ReadonlySet<string> = new Set([
  'image',
  'images',
  'mask',
  'reference_images',
  'image_urls',
  'guidance_scale',
])
const DEPTH = 4
const NAME_LENGTH_MAX = 100

/** Throws a 400 that names the first member of a request that may decide a fact of a price. */
export function refuseOtherSizes({ value, model }: QuotedRequest): void {
  const words = Object.keys(WORDS).filter((fact) => {
    return model.prices.some(({ when }) => when !== undefined && Object.hasOwn(when, fact))
  })
  if (words.length === 0) return
  for (const fact of words) refuseInside(value, fact, '', DEPTH)
}

function refuseInside(value: object, fact: string, path: string, depth: number): void {
  if (Array.isArray(value)) {
    if (depth === 0) return
    for (const [index, item] of value.entries()) {
      if (isContainer(item)) refuseInside(item, fact, `${path}${index}.`, depth - 1)
    }
    return
  }
  for (const [name, inner] of Object.entries(value)) {
    if (isAbsent(inner) || (path === '' && (name === fact || OTHERS.has(name)))) continue
    if (hasWord(name, fact)) {
      const problem = `the price of this model depends on its ${fact}: send it as \`${fact}\``
      throw invalidField(`${path}${name}`, problem)
    }
    if (isContainer(inner) && depth > 0) refuseInside(inner, fact, `${path}${name}.`, depth - 1)
  }
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

function hasWord(name: string, fact: string): boolean {
  if (name.length > NAME_LENGTH_MAX) return false
  const words = foldForms(name).match(WORD) ?? []
  return words.some((word) => WORDS[fact]?.includes(word.toLowerCase()))
}
