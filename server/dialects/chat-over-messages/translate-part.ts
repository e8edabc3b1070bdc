/** Translates a part of a chat message to a content block of the messages format. */
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import { InvalidRequest } from '../invalid-request.ts'

export type MessagesBlock = JsonObject & { readonly type: string }

/** String or parts to blocks. Empty texts are dropped: the format refuses them. */
export function translateChatContent(content: unknown, param: string): MessagesBlock[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [textBlock(content)]
  if (!Array.isArray(content)) throw new InvalidRequest(param, 'must be a string or an array')
  return content.flatMap((part, position) => translatePart(part, `${param}[${position}]`))
}

export function textBlock(text: string): MessagesBlock {
  return { type: 'text', text }
}

function translatePart(part: unknown, param: string): MessagesBlock[] {
  if (!isObject(part)) throw new InvalidRequest(param, 'must be an object')
  const block = readPart(part)
  if (block.type === 'text' && block.text === '') return []
  // Some chat clients mark cacheable parts in this format's terms.
  return isObject(part.cache_control) ? [{ ...block, cache_control: part.cache_control }] : [block]
}

function readPart(part: JsonObject): MessagesBlock {
  switch (part.type) {
    case 'text':
    case 'input_text':
      return textBlock(asString(part.text) ?? '')
    case 'refusal':
      return textBlock(asString(part.refusal) ?? '')
    case 'image_url':
      return translateImage(part.image_url)
    case 'file':
      return translateFile(part.file)
    default:
      return omitted(`a part of type ${asString(part.type)?.slice(0, 64) ?? 'unknown'}`)
  }
}

interface DataUrl {
  readonly media: string
  readonly data: string
}

const DATA_URL = /^data:([^;,]*)[^,]*;base64,/

/** The media type and the base64 text of a data URL; undefined for other URLs. */
function readDataUrl(url: string): DataUrl | undefined {
  const match = DATA_URL.exec(url)
  return match ? { media: match[1] ?? '', data: url.slice(match[0].length) } : undefined
}

function translateImage(image: unknown): MessagesBlock {
  const url = asString(image) ?? asString(member(image, 'url'))
  if (url === undefined) return omitted('an image without a URL')
  const inline = readDataUrl(url)
  if (!inline) return { type: 'image', source: { type: 'url', url } }
  return imageBlock(inline)
}

function imageBlock({ media, data }: DataUrl): MessagesBlock {
  // A common misspelling, which the format refuses.
  const type = media === 'image/jpg' ? 'image/jpeg' : media
  return { type: 'image', source: { type: 'base64', media_type: type, data } }
}

function translateFile(file: unknown): MessagesBlock {
  const title = asString(member(file, 'filename'))
  const inline = readDataUrl(asString(member(file, 'file_data')) ?? '')
  if (!inline) return omitted(`the file ${title ?? 'named by its id'}`)
  const titleField = title === undefined ? {} : { title }
  const { media, data } = inline
  if (media.startsWith('image/')) return imageBlock(inline)
  if (!media.startsWith('text/')) {
    return { type: 'document', source: { type: 'base64', media_type: media, data }, ...titleField }
  }
  const text = Buffer.from(data, 'base64').toString('utf8')
  return {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: text },
    ...titleField,
  }
}

function omitted(label: string): MessagesBlock {
  return textBlock(`[${label} was left out: this model cannot take it]`)
}
