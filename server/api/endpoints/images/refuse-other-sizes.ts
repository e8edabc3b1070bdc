/**
 * Refuses other names for a property that a model's price depends on. Vendors accept `image_size`,
 * `width` or `resolution` beside `size`, and would make and bill a different picture from the one
 * that the hold covers.
 */
import { invalidField } from '../../../base/lib/errors.ts'
import { isAbsent } from '../../../base/lib/json.ts'
import { foldForms } from '../../../base/lib/text/fold-forms.ts'
import type { QuotedRequest } from '../../../work/pipeline/metering.ts'

const SIZES = `size sizes imagesize width height widths heights resolution resolutions res hires
  highres aspect ratio dimension dimensions dims pixel pixels px megapixel megapixels mp side sides
  edge upscale upscaler upscaling scale`
/** Words in member names, with the price condition that such a member may decide. */
const FACTS: ReadonlyMap<string, string> = new Map([
  ...SIZES.split(/\s+/).map((word) => [word, 'size'] as const),
  ['quality', 'quality'],
  ['hd', 'quality'],
])
/** Parts of names: `imageSize` and `image_size` are two words each. */
const WORD = /[A-Z]?[a-z]+|[A-Z]+/g
/** Exceptions: members that contain pictures, and one that does not decide the size. */
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

/** Throws a 400 that names the first member of a request that may decide a price condition. */
export function refuseOtherSizes({ value, model }: QuotedRequest): void {
  const facts = new Set(model.prices.flatMap(({ when = {} }) => Object.keys(when)))
  if (facts.has('size') || facts.has('quality')) refuseInside(value, facts, '', DEPTH)
}

function refuseInside(
  value: object,
  facts: ReadonlySet<string>,
  path: string,
  depth: number,
): void {
  if (Array.isArray(value)) {
    if (depth === 0) return
    for (const [index, item] of value.entries()) {
      if (isContainer(item)) refuseInside(item, facts, `${path}${index}.`, depth - 1)
    }
    return
  }
  for (const [name, inner] of Object.entries(value)) {
    if (isAbsent(inner) || (path === '' && OTHERS.has(name))) continue
    const fact = factOf(name, facts)
    if (fact !== undefined && (path !== '' || name !== fact)) {
      const problem = `the price of this model depends on its ${fact}: send it as \`${fact}\``
      throw invalidField(`${path}${name}`, problem)
    }
    if (isContainer(inner) && depth > 0) refuseInside(inner, facts, `${path}${name}.`, depth - 1)
  }
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Returns the first price condition that a member of this name may decide. */
function factOf(name: string, facts: ReadonlySet<string>): string | undefined {
  if (name.length > NAME_LENGTH_MAX) return undefined
  for (const word of foldForms(name).match(WORD) ?? []) {
    const fact = FACTS.get(word.toLowerCase())
    if (fact !== undefined && facts.has(fact)) return fact
  }
  return undefined
}
