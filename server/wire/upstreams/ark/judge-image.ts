/**
 * Refuses requests that the vendor's image models are known to refuse
 * (docs/protocols/ark.md#images), so that a task fails at once. Doubtful cases are left to the
 * vendor.
 */

import { isObject, type JsonObject, printValue } from '../../../base/lib/json.ts'
import type { ImageRules } from '../../dialects/fields/model-field.ts'
import { InvalidRequest } from '../../dialects/invalid-request.ts'

/** The generation that makes one image for each call, from text alone. */
const SINGLE = /seedream-3/
/** Models that make large images only. */
const LARGE = /seedream-4-5/
const SIZE = /^(\d{1,5})x(\d{1,5})$/
const SIZE_NAMES: readonly unknown[] = ['1K', '2K', '3K', '4K', 'auto', 'adaptive']
const LARGE_PIXELS = { least: 3_686_400, most: 16_777_216 } as const
const ASPECT_MAX = 16
const REFERENCES_MAX = 14
const PICTURES_MAX = 15

/** Throws InvalidRequest with the field at fault. */
export function judgeArkImage(value: JsonObject, upstreamModel: string): void {
  judgeSize(value.size, upstreamModel)
  judgeCount(value, upstreamModel)
}

function judgeSize(size: unknown, upstreamModel: string): void {
  if (size === undefined || size === null || SIZE_NAMES.includes(size)) return
  const [, first, second] = SIZE.exec(printValue(size)) ?? []
  const width = Number(first)
  const height = Number(second)
  if (!(width > 0 && height > 0)) {
    throw new InvalidRequest('size', 'must be a width and a height such as 2048x2048, or 1K to 4K')
  }
  if (!LARGE.test(upstreamModel)) return
  const { least, most } = LARGE_PIXELS
  const pixels = width * height
  if (pixels < least || pixels > most) {
    throw new InvalidRequest('size', `this model makes pictures of ${least} to ${most} pixels`)
  }
  if (Math.max(width / height, height / width) > ASPECT_MAX) {
    throw new InvalidRequest('size', `no side may be longer than ${ASPECT_MAX} times the other`)
  }
}

function judgeCount(value: JsonObject, upstreamModel: string): void {
  const { n, sequential_image_generation: sequence, image } = value
  const pictures = typeof n === 'number' ? n : 1
  const options = value.sequential_image_generation_options
  const sequenceMax = isObject(options) ? options.max_images : undefined
  if (pictures > 1 && sequence === 'disabled') {
    throw new InvalidRequest('n', "must be 1 if sequential_image_generation is 'disabled'")
  }
  if (pictures > 1 && typeof sequenceMax === 'number' && sequenceMax !== pictures) {
    const other = 'sequential_image_generation_options.max_images'
    throw new InvalidRequest('n', `differs from ${other}: send one of them`)
  }
  const references = Array.isArray(image) ? image.length : image ? 1 : 0
  if (SINGLE.test(upstreamModel)) {
    if (pictures > 1) throw new InvalidRequest('n', 'this model makes one image a call')
    if (references > 0) throw new InvalidRequest('image', 'this model takes no images')
    if (sequence === 'auto') {
      throw new InvalidRequest('sequential_image_generation', 'this model makes one image a call')
    }
  }
  if (references > REFERENCES_MAX) {
    throw new InvalidRequest('image', `at most ${REFERENCES_MAX} images`)
  }
  const most = Math.max(
    pictures,
    sequence === 'auto' && typeof sequenceMax === 'number' ? sequenceMax : 1,
  )
  if (most + references > PICTURES_MAX) {
    const problem = `reference and generated images are at most ${PICTURES_MAX} together`
    throw new InvalidRequest(pictures > 1 ? 'n' : 'image', problem)
  }
}

/** Returns the rules that are certain. */
export function arkImageRules(upstreamModel: string): ImageRules {
  const fields = ['seed', 'watermark', 'sequential_image_generation', 'response_format', 'stream']
  if (SINGLE.test(upstreamModel)) return { images: 1, fields }
  return { images: PICTURES_MAX, inputImages: REFERENCES_MAX, fields }
}
