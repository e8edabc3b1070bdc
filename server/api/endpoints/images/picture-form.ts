/** Turns the form of an image edit into the equivalent JSON: files become data URLs. */

import type { JsonObject } from '../../../base/lib/json.ts'
import { SNIFFED_BYTES, sniffType } from '../../../base/lib/media/sniff-type.ts'
import { InvalidRequest } from '../../../wire/dialects/invalid-request.ts'
import type { MemoryFile, MemoryForm } from '../../../work/pipeline/metering.ts'
import { DataUrl } from '../../../work/pipeline/request/write-form-json.ts'

const NUMBERS: ReadonlySet<string> = new Set([
  'n',
  'partial_images',
  'output_compression',
  'guidance_scale',
  'seed',
])
const FLAGS: ReadonlySet<string> = new Set(['stream', 'watermark'])
const PICTURES: ReadonlySet<string> = new Set(['image', 'image[]', 'mask'])

/** Throws InvalidRequest for parts that have no equivalent. */
export function readPictureForm({ fields, files }: MemoryForm): JsonObject {
  const texts = [...fields].map(([name, values]) => [plainName(name), readField(name, values)])
  const pictures = files.filter(({ name }) => name !== 'mask').map(toDataUrl)
  const masks = files.filter(({ name }) => name === 'mask').map(toDataUrl)
  if (masks.length > 1) throw new InvalidRequest('mask', 'given more than once')
  return {
    ...Object.fromEntries(texts),
    ...(pictures.length > 0 ? { image: pictures.length === 1 ? pictures[0] : pictures } : {}),
    ...(masks.length > 0 ? { mask: masks[0] } : {}),
  }
}

function plainName(name: string): string {
  return name.endsWith('[]') ? name.slice(0, -2) : name
}

function readField(name: string, values: readonly string[]): unknown {
  const [first = '', ...more] = values
  if (PICTURES.has(name)) throw new InvalidRequest(name, 'send it as a file, with a filename')
  if (name.endsWith('[]')) return values
  if (more.length > 0) throw new InvalidRequest(name, 'given more than once')
  if (NUMBERS.has(name) && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(first)) return Number(first)
  if (FLAGS.has(name) && /^(?:true|false)$/.test(first)) return first === 'true'
  return first
}

/** The media type is detected from the content: what the form claims is not trusted. */
function toDataUrl({ name, content }: MemoryFile): DataUrl {
  if (!PICTURES.has(name)) throw new InvalidRequest(name, 'send pictures as image, image[] or mask')
  const type = sniffType(content.subarray(0, SNIFFED_BYTES))
  if (!type.startsWith('image/')) {
    throw new InvalidRequest(plainName(name), 'is not a picture: send png, jpeg or webp')
  }
  return new DataUrl(type, content)
}
