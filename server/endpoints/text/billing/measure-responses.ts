/** Measures a Responses request: items of `input`, of which messages and outputs have parts. */
import { isAbsent, isObject, type JsonObject, member } from '../../../lib/json.ts'
import {
  addMedia,
  addMediaUrl,
  createMeasure,
  type Measure,
  noteTtl,
  readCacheControl,
} from './measure.ts'
import { measureTools } from './measure-chat.ts'

/** Items whose whole content is in the request. */
const PLAIN_ITEMS: ReadonlySet<unknown> = new Set([
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'reasoning',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
])

const TEXT_PARTS: ReadonlySet<unknown> = new Set([
  'input_text',
  'output_text',
  'text',
  'refusal',
  'summary_text',
  'reasoning_text',
])

export function measureResponses(value: JsonObject): Measure {
  const measure = createMeasure()
  const { input } = value
  if (Array.isArray(input)) {
    for (let index = 0; index < input.length; index += 1) readItem(measure, input[index], index)
  }
  measureTools(measure, value.tools)
  readCacheControl(measure, value, () => '')
  const options = value.prompt_cache_options
  if (isObject(options)) noteTtl(measure, options.ttl, () => 'prompt_cache_options.ttl')
  return measure
}

function readItem(measure: Measure, item: unknown, index: number): void {
  if (!isObject(item)) return
  const { type, content, output } = item
  readCacheControl(measure, item, () => `input[${index}].`)
  if (!isAbsent(type) && !PLAIN_ITEMS.has(type)) measure.isOpen = true
  if (type === 'image_generation_call') addMedia(measure, 'image', item.result)
  readParts(measure, content, () => `input[${index}].content`)
  readParts(measure, output, () => `input[${index}].output`)
  if (member(output, 'type') === 'computer_screenshot') {
    addMediaUrl(measure, 'image', member(output, 'image_url'))
  }
}

function readParts(measure: Measure, parts: unknown, at: () => string): void {
  if (!Array.isArray(parts)) return
  for (let index = 0; index < parts.length; index += 1) {
    readPart(measure, parts[index], () => `${at()}[${index}].`)
  }
}

function readPart(measure: Measure, part: unknown, at: () => string): void {
  if (!isObject(part)) return
  readCacheControl(measure, part, at)
  switch (part.type) {
    case 'input_image':
      addMediaUrl(measure, 'image', part.image_url)
      return
    case 'input_audio':
      measure.audioAt ??= `${at()}type`
      addMedia(measure, 'audio', member(part.input_audio, 'data'))
      return
    case 'input_file':
      addMediaUrl(measure, 'document', part.file_data)
      return
    default:
      if (!TEXT_PARTS.has(part.type)) measure.isOpen = true
  }
}
