/**
 * The result of a task from the upstream's answer: its images, each with a link. One that came as
 * bytes gets a link of ours; one that failed among others is left out.
 */
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import { isImage } from './read-answer.ts'

export interface ResultOptions {
  /** Stores an image and gives its link. */
  readonly keep: (image: Buffer) => Promise<string>
  /** Token usage is shown only where tokens are what is paid for. */
  readonly showUsage: boolean
}

/** Undefined when there is no image in it. */
export async function readImagesResult(
  document: unknown,
  { keep, showUsage }: ResultOptions,
): Promise<JsonObject | undefined> {
  if (!isObject(document)) return undefined
  const entries = Array.isArray(document.data) ? document.data.filter(isImage) : []
  if (entries.length === 0) return undefined
  const data: JsonObject[] = []
  for (const entry of entries) {
    const { b64_json: content, ...image } = entry
    const bytes = asString(content)
    data.push(bytes ? { ...image, url: await keep(Buffer.from(bytes, 'base64')) } : image)
  }
  const { created, created_at: createdAt, usage } = document
  const time = created ?? createdAt
  return {
    ...(typeof time === 'number' ? { created: time } : {}),
    data,
    ...(showUsage && isObject(usage) ? { usage } : {}),
  }
}

/** Why there is none, in the vendor's words where it has any. */
export function explainNoImage(document: unknown): { code: string; message: string } {
  const data = member(document, 'data')
  const [failed] = Array.isArray(data) ? data.map((entry) => member(entry, 'error')) : []
  return {
    code: asString(member(failed, 'code')) ?? 'no_image',
    message: asString(member(failed, 'message')) ?? 'the upstream made no image',
  }
}
