// The pictures of an edit or a variation: files of a form, or references in JSON.
import { isObject, type Json, text } from '../kernel/checks.ts'
import { invalid, missing } from './errors.ts'

const PICTURES_MAX = 16
const NUMBERS = ['n', 'partial_images', 'output_compression']
const STARTS = ['89504e47', 'ffd8ff', '52494646']

/** Returns the fields of a form as JSON has them. */
export function readPictureForm(json: unknown): unknown {
  if (!isObject(json)) return json
  const read: Record<string, unknown> = { ...json }
  for (const name of NUMBERS) {
    if (typeof read[name] === 'string') read[name] = Number(read[name])
  }
  if (typeof read.stream === 'string') read.stream = read.stream === 'true'
  return read
}

/** Counts the pictures and the mask. Throws for none, for too many, and for other files. */
export function countPictures(json: Json): number {
  const list = json.images ?? json['image[]'] ?? json.image
  if (list === undefined) throw missing('image')
  const pictures: unknown[] = Array.isArray(list) ? list : [list]
  const masks = json.mask === undefined ? [] : [json.mask]
  if (pictures.length === 0 || pictures.length > PICTURES_MAX) {
    throw invalid('image', 'invalid_value', `Expected 1 to ${PICTURES_MAX} images.`)
  }
  for (const one of [...pictures, ...masks]) {
    if (isPicture(one)) continue
    throw invalid('image', 'invalid_image_file', 'Invalid image file or mode for image 1.')
  }
  return pictures.length + masks.length
}

function isPicture(one: unknown): boolean {
  if (Buffer.isBuffer(one)) {
    return STARTS.some((start) => one.toString('hex', 0, 4).startsWith(start))
  }
  if (!isObject(one)) return false
  return /^(https?:|data:image\/)/.test(text(one.image_url)) || text(one.file_id) !== ''
}
