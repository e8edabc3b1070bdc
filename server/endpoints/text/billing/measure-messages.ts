/** Measures a messages request: blocks of `system` and of messages, some of them nested. */
import { isObject, type JsonObject } from '../../../lib/json.ts'
import {
  addMedia,
  createMeasure,
  type Measure,
  type MediaKind,
  readCacheControl,
} from './measure.ts'
import { measureTools } from './measure-chat.ts'

/** Blocks whose whole content is in the request. */
const PLAIN_BLOCKS: ReadonlySet<unknown> = new Set([
  'text',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_result',
  'server_tool_use',
  'web_search_tool_result',
  'search_result',
  'tool_reference',
])

export function measureMessages(value: JsonObject): Measure {
  const measure = createMeasure()
  readBlocks(measure, value.system, () => 'system')
  const { messages } = value
  if (Array.isArray(messages)) {
    for (let index = 0; index < messages.length; index += 1) {
      const message: unknown = messages[index]
      if (!isObject(message)) continue
      readCacheControl(measure, message, () => `messages[${index}].`)
      readBlocks(measure, message.content, () => `messages[${index}].content`)
    }
  }
  measureTools(measure, value.tools)
  readCacheControl(measure, value, () => '')
  return measure
}

/** Recursion is safe: the depth of the body is limited. */
function readBlocks(measure: Measure, blocks: unknown, at: () => string): void {
  if (!Array.isArray(blocks)) return
  for (let index = 0; index < blocks.length; index += 1) {
    const block: unknown = blocks[index]
    if (isObject(block)) readBlock(measure, block, () => `${at()}[${index}].`)
  }
}

function readBlock(measure: Measure, block: JsonObject, at: () => string): void {
  readCacheControl(measure, block, at)
  const { type, source } = block
  if (type === 'image') readSource(measure, 'image', source, at)
  else if (type === 'document') readSource(measure, 'document', source, at)
  else if (!PLAIN_BLOCKS.has(type)) measure.isOpen = true
  readBlocks(measure, block.content, () => `${at()}content`)
}

function readSource(measure: Measure, kind: MediaKind, source: unknown, at: () => string): void {
  if (!isObject(source)) {
    measure.isOpen = true
    return
  }
  // A source of text counts as text, whatever its other members.
  if (source.type === 'text') return
  if (source.type === 'content') readBlocks(measure, source.content, () => `${at()}source.content`)
  else addMedia(measure, kind, source.type === 'base64' ? source.data : undefined)
}
