/** Translates a part of a chat message to a content block of the messages format. */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { decodeTextFile, type FileData, isWebUrl, readDataUrl, readFileData } from '../file-data.ts'
import { InvalidRequest } from '../invalid-request.ts'

export type MessagesBlock = JsonObject & { readonly type: string }

/** String or parts to blocks. Blank texts are dropped: the format refuses them. */
export function translateChatContent(content: unknown, param: string): MessagesBlock[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return content.trim() === '' ? [] : [textBlock(content)]
  if (!Array.isArray(content)) throw new InvalidRequest(param, 'must be a string or an array')
  const blocks: MessagesBlock[] = []
  for (let position = 0; position < content.length; position += 1) {
    for (const block of translatePart(content[position], `${param}[${position}]`)) {
      if (!repeatsNote(block, blocks.at(-1))) blocks.push(block)
    }
  }
  return blocks
}

/**
 * Returns true if the previous block is the same note, which need not be repeated: a note is far
 * longer than `{}`.
 */
function repeatsNote(block: MessagesBlock, last: MessagesBlock | undefined): boolean {
  return last !== undefined && block.text === last.text && NOTES.has(block) && NOTES.has(last)
}

export function textBlock(text: string): MessagesBlock {
  return { type: 'text', text }
}

function translatePart(part: unknown, param: string): MessagesBlock[] {
  if (!isObject(part)) throw new InvalidRequest(param, 'must be an object')
  // Reasoning inside the content has no signature, without which the format refuses it.
  if (part.type === 'thinking') return []
  const block = readPart(part, param)
  if (block.type === 'text' && asString(block.text)?.trim() === '') return []
  // Some chat clients mark cacheable parts in this format's terms.
  return isObject(part.cache_control) ? [{ ...block, cache_control: part.cache_control }] : [block]
}

function readPart(part: JsonObject, param: string): MessagesBlock {
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return textBlock(asString(part.text) ?? '')
    case 'refusal':
      return textBlock(asString(part.refusal) ?? '')
    case 'image_url':
      return translateImage(part.image_url)
    case 'file':
      return translateFile(part.file, `${param}.file`)
    case 'input_audio':
    case 'video_url':
      throw new InvalidRequest(`${param}.type`, `this model takes no ${part.type}`)
    default:
      return omitted(`a part of type ${asString(part.type)?.slice(0, 64) ?? 'unknown'}`)
  }
}

function translateImage(image: unknown): MessagesBlock {
  const url = asString(image) ?? asString(member(image, 'url'))
  if (url === undefined) return omitted('an image without a URL')
  const inline = readDataUrl(url)
  return inline ? imageBlock(inline) : { type: 'image', source: { type: 'url', url } }
}

function imageBlock({ media, data }: FileData): MessagesBlock {
  // A common misspelling, which the format refuses.
  const type = media === 'image/jpg' ? 'image/jpeg' : media
  return { type: 'image', source: { type: 'base64', media_type: type, data } }
}

/** Throws for a file that the request names only by its id, which is another vendor's. */
function translateFile(file: unknown, param: string): MessagesBlock {
  const title = asString(member(file, 'filename'))
  const text = asString(member(file, 'file_data'))
  if (text === undefined && member(file, 'file_id') !== undefined) {
    throw new InvalidRequest(`${param}.file_id`, 'is unknown to this model: send file_data')
  }
  const titleField = title === undefined ? {} : { title }
  if (text !== undefined && isWebUrl(text)) {
    return { type: 'document', source: { type: 'url', url: text }, ...titleField }
  }
  const inline = readFileData(text ?? '', title)
  if (!inline) return omitted(`the file ${title ?? 'without content'}`)
  return inline.media.startsWith('image/')
    ? imageBlock(inline)
    : { type: 'document', source: readSource(inline), ...titleField }
}

function readSource(file: FileData): JsonObject {
  const text = decodeTextFile(file)
  if (text !== undefined) return { type: 'text', media_type: 'text/plain', data: text }
  return { type: 'base64', media_type: file.media, data: file.data }
}

const NOTES = new WeakSet<MessagesBlock>()

function omitted(label: string): MessagesBlock {
  const note = textBlock(`[${label} was left out: this model cannot take it]`)
  NOTES.add(note)
  return note
}
