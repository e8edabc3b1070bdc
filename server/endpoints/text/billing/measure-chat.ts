/** Measures a chat request: the `content` of a message is text, or parts that may be media. */
import { isObject, type JsonObject, member } from '../../../lib/json.ts'
import {
  addMedia,
  addMediaUrl,
  createMeasure,
  type Measure,
  noteTtl,
  readCacheControl,
} from './measure.ts'

export function measureChat(value: JsonObject): Measure {
  const measure = createMeasure()
  const { messages } = value
  if (Array.isArray(messages)) {
    for (let index = 0; index < messages.length; index += 1) {
      readMessage(measure, messages[index], index)
    }
  }
  measureTools(measure, value.tools)
  readCacheControl(measure, value, () => '')
  const options = value.prompt_cache_options
  if (isObject(options)) noteTtl(measure, options.ttl, () => 'prompt_cache_options.ttl')
  return measure
}

/** Reads the cache control of tools; their definitions count as text. */
export function measureTools(measure: Measure, tools: unknown): void {
  if (!Array.isArray(tools)) return
  for (let index = 0; index < tools.length; index += 1) {
    const tool: unknown = tools[index]
    if (!isObject(tool)) continue
    readCacheControl(measure, tool, () => `tools[${index}].`)
    const definition = tool.function
    if (isObject(definition))
      readCacheControl(measure, definition, () => `tools[${index}].function.`)
  }
}

function readMessage(measure: Measure, message: unknown, index: number): void {
  if (!isObject(message)) return
  readCacheControl(measure, message, () => `messages[${index}].`)
  // An earlier spoken answer, which only the vendor has.
  if (isObject(message.audio)) measure.isOpen = true
  const { content } = message
  if (!Array.isArray(content)) return
  for (let part = 0; part < content.length; part += 1) {
    readPart(measure, content[part], () => `messages[${index}].content[${part}].`)
  }
}

function readPart(measure: Measure, part: unknown, at: () => string): void {
  if (!isObject(part)) return
  readCacheControl(measure, part, at)
  switch (part.type) {
    case 'text':
    case 'refusal':
      return
    case 'image_url':
      addMediaUrl(measure, 'image', member(part.image_url, 'url') ?? part.image_url)
      return
    case 'input_audio':
      measure.audioAt ??= `${at()}type`
      addMedia(measure, 'audio', member(part.input_audio, 'data'))
      return
    case 'file':
      readFile(measure, part.file)
      return
    default:
      // A part of another vendor, or a future one.
      measure.isOpen = true
  }
}

function readFile(measure: Measure, file: unknown): void {
  addMediaUrl(measure, 'document', member(file, 'file_data'))
}
