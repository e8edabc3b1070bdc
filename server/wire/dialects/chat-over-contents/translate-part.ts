/** Translates parts of chat messages to parts of the contents format, with media of all kinds. */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { ContentReading } from '../chat-over-messages/translate-conversation.ts'
import type { MessagesBlock } from '../chat-over-messages/translate-part.ts'
import { ADDRESS_ADVICE, isOpenAddress, isVideoSite } from '../contents/file-address.ts'
import { readCarried } from '../contents/signature.ts'
import { type FileData, readDataUrl, readFileData } from '../file-data.ts'
import { InvalidRequest } from '../invalid-request.ts'

/** A block whose member `part` is a part in this format. */
function partBlock(part: JsonObject): MessagesBlock {
  return { type: 'part', part }
}

/**
 * Reads messages for this format, which has the turn order of the messages format but parts of its
 * own.
 */
export const OF_CONTENTS: ContentReading = {
  content: translateContent,
  before(message) {
    const mark = readCarried(message)
    return mark === undefined ? [] : [{ type: 'mark', signature: mark }]
  },
  after({ images, refusal }, param) {
    const list: readonly unknown[] = Array.isArray(images) ? images : []
    return [
      ...textBlocks(asString(refusal) ?? ''),
      ...list.flatMap((one) => translateImage(one, `${param}.images`)),
    ]
  },
  call: (call) => {
    const signature = readCarried(call)
    return signature === undefined ? {} : { signature }
  },
}

function translateContent(content: unknown, param: string): MessagesBlock[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [partBlock({ text: content })]
  if (!Array.isArray(content)) throw new InvalidRequest(param, 'must be a string or an array')
  return content.flatMap((part, position) => translatePart(part, `${param}[${position}]`))
}

function translatePart(part: unknown, param: string): MessagesBlock[] {
  if (!isObject(part)) throw new InvalidRequest(param, 'must be an object')
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return textBlocks(asString(part.text) ?? '')
    case 'refusal':
      return textBlocks(asString(part.refusal) ?? '')
    case 'thinking':
      return []
    case 'image_url':
      return translateImage(part, param)
    case 'video_url':
      return [mediaBlock(urlOf(part.video_url), param, 'video/mp4')]
    case 'input_audio':
      return [partBlock({ inlineData: readAudio(part.input_audio, param) })]
    case 'file':
      return translateFile(part.file, `${param}.file`)
    default:
      return textBlocks(
        `[a part of type ${asString(part.type)?.slice(0, 64) ?? 'unknown'} was left out]`,
      )
  }
}

function textBlocks(text: string): MessagesBlock[] {
  return text === '' ? [] : [partBlock({ text })]
}

function urlOf(value: unknown): string | undefined {
  return asString(value) ?? asString(member(value, 'url'))
}

/**
 * Returns an image of an earlier answer with its signature. Only an image is accepted: the hold is
 * for an image, and a video or a text in its place would cost many times that.
 */
function translateImage(part: unknown, param: string): MessagesBlock[] {
  const block = mediaBlock(urlOf(member(part, 'image_url')), param, 'image/jpeg')
  const { inlineData, fileData } = isObject(block.part) ? block.part : {}
  const media = asString(member(inlineData ?? fileData, 'mimeType')) ?? ''
  if (!/^image\//i.test(media)) {
    throw new InvalidRequest(param, 'must be an image: send videos as video_url, others as file')
  }
  const thoughtSignature = readCarried(part)
  if (thoughtSignature === undefined || !isObject(block.part)) return [block]
  return [partBlock({ ...block.part, thoughtSignature })]
}

function mediaBlock(url: string | undefined, param: string, otherwise: string): MessagesBlock {
  if (!url) throw new InvalidRequest(param, 'needs a URL')
  const inline = readDataUrl(url)
  if (inline) return partBlock({ inlineData: toInline(inline) })
  if (!isOpenAddress(url)) throw new InvalidRequest(param, ADDRESS_ADVICE)
  // A video at YouTube has no media type, and needs none.
  const mimeType = MEDIA.get(endingOf(url)) ?? (isVideoSite(url) ? undefined : otherwise)
  return partBlock({ fileData: { fileUri: url, ...(mimeType ? { mimeType } : {}) } })
}

const MEDIA: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['mp3', 'audio/mp3'],
  ['wav', 'audio/wav'],
  ['ogg', 'audio/ogg'],
  ['flac', 'audio/flac'],
  ['webm', 'video/webm'],
  ['mov', 'video/quicktime'],
  ['mp4', 'video/mp4'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
])

function endingOf(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? ''
  return path.slice(path.lastIndexOf('.') + 1).toLowerCase()
}

function toInline({ media, data }: FileData): JsonObject {
  // A common misspelling, which the format refuses.
  const mimeType = media === 'image/jpg' ? 'image/jpeg' : media || 'application/octet-stream'
  return { mimeType, data }
}

function readAudio(audio: unknown, param: string): JsonObject {
  const [data, format] = [asString(member(audio, 'data')), asString(member(audio, 'format'))]
  if (!data) throw new InvalidRequest(`${param}.input_audio.data`, 'is required')
  const inline = readDataUrl(data) ?? { media: `audio/${format ?? 'wav'}`, data }
  // The hold is for sound, and a video would be billed higher.
  if (/^audio\/[\w.+-]{1,40}$/i.test(inline.media)) return toInline(inline)
  throw new InvalidRequest(`${param}.input_audio`, 'must be sound')
}

/** Throws for a file that the request names only by its id, which is another vendor's. */
function translateFile(file: unknown, param: string): MessagesBlock[] {
  const filename = asString(member(file, 'filename'))
  const text = asString(member(file, 'file_data'))
  if (text === undefined) {
    throw new InvalidRequest(`${param}.file_data`, 'is required: ids of files are unknown here')
  }
  const inline = readFileData(text, filename)
  if (inline) return [partBlock({ inlineData: toInline(inline) })]
  return [mediaBlock(text, param, 'application/pdf')]
}
