/**
 * Reads an answer with images, whole or as the event that ends a stream. OpenAI counts tokens
 * (docs/protocols/openai.md#images), ARK the images that succeeded (docs/protocols/ark.md#images).
 */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { readChatUsage } from '../chat/read-usage.ts'
import { isStatedError, type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import type { BodyReading } from '../tap.ts'
import { readCount } from '../usage/read-count.ts'
import { toImageTokens, type UsageReading } from '../usage/usage-reading.ts'
import { readImageFacts } from './read-request.ts'

/** Reads a parsed answer of `POST /v1/images/generations`; anything else is an error. */
export function readImagesBody(document: unknown): BodyReading {
  const data = member(document, 'data')
  const entries = Array.isArray(data) ? data : []
  const images = entries.filter(isImage)
  const error = readImagesError(document)
  // Images beside an error were made, so this is an answer.
  if (entries.length === 0 || (error && images.length === 0)) {
    const { usage: tokens } = readChatUsage(document)
    const image = readGenerated(document)
    const usage = { ...(image ? { image } : {}), ...toImageTokens(tokens ?? {}) }
    const usageField = tokens || image ? { usage } : {}
    return { ...usageField, outputBytes: 0, error: error ?? UPSTREAM_ERROR }
  }
  return {
    outputBytes: images.reduce((sum, image) => sum + countImageBytes(image), 0),
    ...readImageUsage(document, images.length),
  }
}

/** An entry may be the error of one image among others that succeeded. */
export function isImage(entry: unknown): entry is JsonObject {
  return countImageBytes(entry) > 0
}

export function countImageBytes(entry: unknown): number {
  const content = asString(member(entry, 'b64_json')) ?? asString(member(entry, 'url'))
  return content?.length ?? 0
}

/**
 * Reads images, tokens and the vendor's choices. The count that the vendor bills overrides
 * `imageCount`. Output tokens that the details do not call text are those of images.
 */
export function readImageUsage(document: unknown, imageCount: number): UsageReading {
  const { usage: tokens = {}, facts, ...reading } = readChatUsage(document)
  // Delivered images were made: a stated count of zero does not make them free.
  const image = readGenerated(document) || imageCount
  return {
    ...reading,
    usage: { image, ...toImageTokens(tokens) },
    facts: { ...facts, ...readAnswerFacts(document) },
  }
}

/** Returns the number of images that the vendor bills, if it states one. */
export function readGenerated(document: unknown): number | undefined {
  return readCount(member(member(document, 'usage'), 'generated_images'))
}

/**
 * Reads the vendor's choices for options that the request left open. Images of several sizes match
 * no size in a price.
 */
function readAnswerFacts(document: unknown): Readonly<Record<string, string>> {
  if (!isObject(document)) return {}
  const images = Array.isArray(document.data) ? document.data.filter(isImage) : []
  const sizes = new Set(images.flatMap((image) => asString(image.size) ?? []))
  const size = sizes.size > 0 ? [...sizes].join(' ') : (asString(document.size) ?? '')
  return readImageFacts({ quality: document.quality, ...(size === '' ? {} : { size }) })
}

/** Returns the error in place of an answer or of an event; undefined without one. */
export function readImagesError(document: unknown): ReportedError | undefined {
  const error = member(document, 'error')
  if (!isStatedError(error)) return undefined
  if (typeof error === 'string') return { ...UPSTREAM_ERROR, message: error }
  const message = asString(member(error, 'message')) || UPSTREAM_ERROR.message
  const code = asString(member(error, 'code'))
  return { ...UPSTREAM_ERROR, message, code }
}
