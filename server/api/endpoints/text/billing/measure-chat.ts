/** Measures a chat request: the `content` of a message is text, or parts that may be media. */
import { isObject, type JsonObject, member } from '../../../../base/lib/json.ts'
import {
  addElsewhere,
  addMedia,
  addMediaUrl,
  createMeasure,
  type Measure,
  readCacheControl,
  readOthers,
  readParts,
  readToolsAndCaches,
} from './measure.ts'
import { PLAIN_CHAT_CALL, PLAIN_CHAT_MESSAGE, PLAIN_PART } from './plain-members.ts'

export function measureChat(value: JsonObject): Measure {
  const measure = createMeasure()
  const { messages } = value
  if (Array.isArray(messages)) {
    for (let index = 0; index < messages.length; index += 1) {
      readMessage(measure, messages[index], index)
    }
  }
  readToolsAndCaches(measure, value)
  return measure
}

function readMessage(measure: Measure, message: unknown, index: number): void {
  if (!isObject(message)) return
  readCacheControl(measure, message, () => `messages[${index}].`)
  // An earlier spoken answer, which only the vendor has.
  if (isObject(message.audio)) addElsewhere(measure)
  readOthers(measure, message, PLAIN_CHAT_MESSAGE)
  readCalls(measure, message.tool_calls)
  readParts(measure, message.content, () => `messages[${index}].content`, readPart)
  readParts(measure, message.images, () => `messages[${index}].images`, readPart)
}

function readCalls(measure: Measure, calls: unknown): void {
  if (!Array.isArray(calls)) return
  for (const call of calls) if (isObject(call)) readOthers(measure, call, PLAIN_CHAT_CALL)
}

function readPart(measure: Measure, part: unknown, at: () => string): void {
  if (!isObject(part)) return
  readCacheControl(measure, part, at)
  switch (part.type) {
    case 'text':
    case 'refusal':
      readOthers(measure, part, PLAIN_PART)
      return
    case 'image_url':
      addMediaUrl(measure, 'image', member(part.image_url, 'url') ?? part.image_url)
      return
    case 'input_audio':
      measure.audioAt ??= `${at()}type`
      addMedia(measure, 'audio', member(part.input_audio, 'data'))
      return
    case 'video_url':
      addMediaUrl(measure, 'video', member(part.video_url, 'url') ?? part.video_url)
      return
    case 'file':
      readFile(measure, part.file)
      return
    default:
      // A part of another vendor, or a future one.
      addElsewhere(measure)
  }
}

function readFile(measure: Measure, file: unknown): void {
  addMediaUrl(measure, 'document', member(file, 'file_data'))
}
