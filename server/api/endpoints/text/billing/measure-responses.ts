/** Measures a Responses request: items of `input`, of which messages and outputs have parts. */
import { isAbsent, isObject, type JsonObject, member } from '../../../../base/lib/json.ts'
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
import { PLAIN_ITEM, PLAIN_PART } from './plain-members.ts'

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

/**
 * Items of tools that the vendor runs. The vendor keeps more of their content than the request
 * shows.
 */
const HOSTED_ITEMS: ReadonlySet<unknown> = new Set([
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'computer_call',
  'computer_call_output',
  'mcp_call',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'compaction',
  'compaction_trigger',
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
  readToolsAndCaches(measure, value)
  return measure
}

function readItem(measure: Measure, item: unknown, index: number): void {
  if (!isObject(item)) return
  const { type, content, output } = item
  readCacheControl(measure, item, () => `input[${index}].`)
  // An item without a type is a message; if it has no role either, it may be a reference.
  const isPlain = isAbsent(type) ? !isAbsent(item.role) : PLAIN_ITEMS.has(type)
  if (!isPlain) addElsewhere(measure, HOSTED_ITEMS.has(type) ? 0 : undefined)
  if (!isAbsent(item.id)) addElsewhere(measure, 0)
  readOthers(measure, item, PLAIN_ITEM)
  if (type === 'image_generation_call') addMedia(measure, 'image', item.result)
  readParts(measure, content, () => `input[${index}].content`, readPart)
  if (member(output, 'type') === 'computer_screenshot') {
    addMediaUrl(measure, 'image', member(output, 'image_url'))
  } else readParts(measure, output, () => `input[${index}].output`, readPart)
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
      if (!TEXT_PARTS.has(part.type)) addElsewhere(measure)
      readOthers(measure, part, PLAIN_PART)
  }
}
