/**
 * Translates content of the Responses dialect to parts of a chat message. Unsupported content is
 * replaced by a sentence that says so: silently dropping it would make the model guess, and
 * refusing would block a session whose history contains it.
 */
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import type { ChatQuirks } from '../chat/quirks.ts'
import { InvalidRequest } from '../invalid-request.ts'
import { type ChatPart, textPart } from '../messages-over-chat/chat-request.ts'

/** Translates a text or a list of parts. Drops empty texts: several vendors refuse them. */
export function translateParts(content: unknown, param: string, quirks: ChatQuirks): ChatPart[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [textPart(content)]
  if (!Array.isArray(content)) throw new InvalidRequest(param, 'must be a string or an array')
  return content.flatMap((part, position) => {
    if (!isObject(part)) throw new InvalidRequest(`${param}[${position}]`, 'must be an object')
    return translatePart(part, quirks)
  })
}

function translatePart(part: JsonObject, quirks: ChatQuirks): ChatPart[] {
  switch (part.type) {
    case 'input_image':
      return [translateImage(part, quirks)]
    case 'input_file':
      return [translateFile(part, quirks)]
    default:
      return translateText(part)
  }
}

/** `input_text`, `output_text`, `text`, `summary_text`, `refusal`. */
function translateText(part: JsonObject): ChatPart[] {
  const text = asString(part.text) ?? asString(part.refusal)
  if (text === '') return []
  if (text !== undefined) return [textPart(text)]
  return [omitted(`content of type ${String(part.type).slice(0, 64)}`)]
}

function translateImage(part: JsonObject, quirks: ChatQuirks): ChatPart {
  const { image_url: image, detail } = part
  const url = asString(image) ?? asString(member(image, 'url'))
  if (url === undefined) return omitted('an image that is not in the request')
  if (!quirks.imageParts) return omitted('an image')
  const detailField = detail === 'low' || detail === 'high' ? { detail } : {}
  return { type: 'image_url', image_url: { url, ...detailField } }
}

function translateFile(part: JsonObject, quirks: ChatQuirks): ChatPart {
  const filename = asString(part.filename) ?? 'document.pdf'
  const data = asString(part.file_data)
  const url = asString(part.file_url)
  if (data === undefined)
    return url === undefined ? omitted(filename) : textPart(`[file at ${url}]`)
  const text = readTextFile(data)
  if (text !== undefined && !quirks.beforeMessages) return textPart(`${filename}\n${text}`)
  return quirks.fileParts
    ? { type: 'file', file: { filename, file_data: data } }
    : omitted(filename)
}

const TEXT_FILE = /^data:text\/[\w.+-]+[^,]*;base64,/i

/** Returns the text of a text file, which needs no `file` part; undefined for other files. */
function readTextFile(data: string): string | undefined {
  const head = TEXT_FILE.exec(data)?.[0]
  return head === undefined
    ? undefined
    : Buffer.from(data.slice(head.length), 'base64').toString('utf8')
}

function omitted(label: string): ChatPart {
  return textPart(`[${label} was left out: this model cannot take it]`)
}

/** Joins all texts in order; other parts are left out. */
export function joinTexts(parts: readonly ChatPart[], separator: string): string {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.join(separator)
}
