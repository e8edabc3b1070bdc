/**
 * Translates content of the Responses dialect to parts of a chat message. Unsupported content is
 * replaced by a sentence that says so: silently dropping it would make the model guess, and
 * refusing would block a session whose history contains it.
 */
import { asString, isObject, type JsonObject, member, printValue } from '../../../base/lib/json.ts'
import type { ChatQuirks } from '../chat/quirks.ts'
import { decodeTextFile, isWebUrl, readFileData } from '../file-data.ts'
import { InvalidRequest } from '../invalid-request.ts'
import { type ChatPart, textPart } from '../messages-over-chat/chat-request.ts'

/** Translates a text or a list of parts. Drops empty texts: several vendors refuse them. */
export function translateParts(content: unknown, param: string, quirks: ChatQuirks): ChatPart[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [textPart(content)]
  if (!Array.isArray(content)) throw new InvalidRequest(param, 'must be a string or an array')
  return content.flatMap((part, position) => {
    const at = `${param}[${position}]`
    if (!isObject(part)) throw new InvalidRequest(at, 'must be an object')
    return translatePart(part, at, quirks)
  })
}

function translatePart(part: JsonObject, param: string, quirks: ChatQuirks): ChatPart[] {
  switch (part.type) {
    case 'input_image':
      return [translateImage(part, param, quirks)]
    case 'input_file':
      return [translateFile(part, param, quirks)]
    case 'input_audio':
    case 'input_video':
      throw new InvalidRequest(`${param}.type`, `this model takes no ${part.type}`)
    default:
      return translateText(part)
  }
}

/** `input_text`, `output_text`, `text`, `summary_text`, `refusal`. */
function translateText(part: JsonObject): ChatPart[] {
  const text = asString(part.text) ?? asString(part.refusal)
  if (text === '') return []
  if (text !== undefined) return [textPart(text)]
  return [omitted(`content of type ${printValue(part.type).slice(0, 64)}`)]
}

function translateImage(part: JsonObject, param: string, quirks: ChatQuirks): ChatPart {
  const { image_url: image, detail } = part
  const url = asString(image) ?? asString(member(image, 'url'))
  if (url === undefined) refuseFileId(part, param)
  if (url === undefined) return omitted('an image that is not in the request')
  if (!quirks.image_parts) return omitted('an image')
  const detailField = detail === 'low' || detail === 'high' ? { detail } : {}
  return { type: 'image_url', image_url: { url, ...detailField } }
}

function translateFile(part: JsonObject, param: string, quirks: ChatQuirks): ChatPart {
  const filename = asString(part.filename) ?? 'document.pdf'
  const url = asString(part.file_url)
  const text = asString(part.file_data)
  if (text === undefined && url === undefined) refuseFileId(part, param)
  if (text === undefined) return linkFile(url, filename, quirks)
  const file = readFileData(text, filename)
  const content = file && decodeTextFile(file)
  if (content !== undefined && !quirks.beforeMessages) return textPart(`${filename}\n${content}`)
  if (!quirks.file_parts) return omitted(filename)
  const data = file ? `data:${file.media};base64,${file.data}` : text
  return { type: 'file', file: { filename, file_data: data } }
}

/** Only the messages format takes the address of a file. */
function linkFile(url: string | undefined, filename: string, quirks: ChatQuirks): ChatPart {
  if (url === undefined) return omitted(filename)
  if (!quirks.beforeMessages || !isWebUrl(url)) return textPart(`[file at ${url}]`)
  return { type: 'file', file: { filename, file_data: url } }
}

/** Throws for a file that the request names only by its id, which is another vendor's. */
function refuseFileId(part: JsonObject, param: string): void {
  if (part.file_id === undefined || part.file_id === null) return
  throw new InvalidRequest(`${param}.file_id`, 'is unknown to this model: send the data')
}

function omitted(label: string): ChatPart {
  return textPart(`[${label} was left out: this model cannot take it]`)
}

/** Joins all texts in order; other parts are left out. */
export function joinTexts(parts: readonly ChatPart[], separator: string): string {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.join(separator)
}
