/**
 * Reads the result of a task from the upstream's answer: its images, each with a link. An image
 * that arrived as bytes gets a link of the gateway; a failed image among others is omitted.
 */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { readImageUrl } from '../../../base/lib/result-url.ts'
import { isImage } from './read-answer.ts'

export interface ResultOptions {
  /** Stores an image and resolves with its link. */
  readonly keep: (image: Buffer) => Promise<string>
  /** True if tokens are billed; only then is token usage shown. */
  readonly showUsage: boolean
}

/** Resolves with the result; undefined for an answer without an image. */
export async function readImagesResult(
  document: unknown,
  { keep, showUsage }: ResultOptions,
): Promise<JsonObject | undefined> {
  if (!isObject(document)) return undefined
  const entries = Array.isArray(document.data) ? document.data.filter(isImage) : []
  if (entries.length === 0) return undefined
  const data: JsonObject[] = []
  for (const entry of entries) {
    const { b64_json: content, url: link, ...image } = entry
    const bytes = asString(content)
    const url = bytes ? await keep(Buffer.from(bytes, 'base64')) : readImageUrl(link)
    if (url !== undefined) data.push({ ...image, url })
  }
  if (data.length === 0) return undefined
  const { created, created_at: createdAt, usage } = document
  const time = created ?? createdAt
  return {
    ...(typeof time === 'number' ? { created: time } : {}),
    data,
    ...(showUsage && isObject(usage) ? { usage } : {}),
  }
}

/** Returns the error for an answer without an image, with the vendor's message where it has one. */
export function explainNoImage(document: unknown): { code: string; message: string } {
  const data = member(document, 'data')
  const [failed] = Array.isArray(data) ? data.map((entry) => member(entry, 'error')) : []
  return {
    code: asString(member(failed, 'code')) ?? 'no_image',
    message: asString(member(failed, 'message')) ?? 'the upstream made no image',
  }
}
