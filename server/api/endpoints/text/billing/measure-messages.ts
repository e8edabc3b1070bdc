/** Measures a messages request: blocks of `system` and of messages, some of them nested. */
import { isObject, type JsonObject, member } from '../../../../base/lib/json.ts'
import {
  addElsewhere,
  addMedia,
  createMeasure,
  type Measure,
  type MediaKind,
  measureTools,
  readCacheControl,
  readOthers,
} from './measure.ts'
import { PLAIN_BLOCK, PLAIN_MESSAGE } from './plain-members.ts'

/** Blocks whose whole content is in the request. */
const PLAIN_BLOCKS: ReadonlySet<unknown> = new Set([
  'text',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_result',
  'server_tool_use',
  'web_search_tool_result',
  'web_search_result',
  'search_result',
  'tool_reference',
])

/** Blocks that the vendor's own tools add; it has more types than it documents. */
const HOSTED_BLOCK = /^(?!web_search)[a-z_]{1,60}_tool_result$|^compaction$|^mcp_tool_/

export function measureMessages(value: JsonObject): Measure {
  const measure = createMeasure()
  readBlocks(measure, value.system, () => 'system')
  const { messages } = value
  if (Array.isArray(messages)) {
    for (let index = 0; index < messages.length; index += 1) {
      const message: unknown = messages[index]
      if (!isObject(message)) continue
      readCacheControl(measure, message, () => `messages[${index}].`)
      readOthers(measure, message, PLAIN_MESSAGE)
      readBlocks(measure, message.content, () => `messages[${index}].content`)
    }
  }
  measureTools(measure, value.tools)
  readCacheControl(measure, value, () => '')
  return measure
}

/** Recursion is safe: the depth of the body is limited. */
function readBlocks(measure: Measure, blocks: unknown, at: () => string): void {
  // A single block outside a list is the error of a search, or not valid in the dialect.
  if (isObject(blocks) && typeof blocks.error_code !== 'string') addElsewhere(measure)
  if (!Array.isArray(blocks)) return
  for (let index = 0; index < blocks.length; index += 1) {
    const block: unknown = blocks[index]
    if (isObject(block)) readBlock(measure, block, () => `${at()}[${index}].`)
  }
}

function readBlock(measure: Measure, block: JsonObject, at: () => string): void {
  readCacheControl(measure, block, at)
  const { type, source } = block
  readOthers(measure, block, PLAIN_BLOCK)
  if (typeof type === 'string' && HOSTED_BLOCK.test(type)) {
    readHosted(measure, block, at)
    return
  }
  if (type === 'image') readSource(measure, 'image', source, at)
  else if (type === 'document') readSource(measure, 'document', source, at)
  else if (!PLAIN_BLOCKS.has(type) || isObject(source)) addElsewhere(measure)
  readBlocks(measure, block.content, () => `${at()}content`)
}

/** Reads what such a block may contain beside text: blocks, or the document that was fetched. */
function readHosted(measure: Measure, { content }: JsonObject, at: () => string): void {
  addElsewhere(measure, 0)
  if (Array.isArray(content)) readBlocks(measure, content, () => `${at()}content`)
  const page = member(content, 'content')
  if (isObject(page)) readBlock(measure, page, () => `${at()}content.content.`)
}

function readSource(measure: Measure, kind: MediaKind, source: unknown, at: () => string): void {
  if (!isObject(source)) {
    addElsewhere(measure)
    return
  }
  // A text source counts as text, regardless of its other members.
  if (source.type === 'text') return
  if (source.type === 'content') readBlocks(measure, source.content, () => `${at()}source.content`)
  else addMedia(measure, kind, source.type === 'base64' ? source.data : undefined)
}
