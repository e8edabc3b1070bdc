// Checks blocks and the order of messages.
import { isObject, type Json, objects, text } from '../kernel/checks.ts'
import { invalid } from './errors.ts'

/** Only signatures of this simulator are valid, as with the real vendor. */
export const SIGNATURE = 'simsig'

const BLOCKS: Record<string, string[]> = {
  text: ['text'],
  image: ['source'],
  document: ['source'],
  tool_use: ['id', 'name', 'input'],
  tool_result: ['tool_use_id'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
  search_result: ['source', 'title', 'content'],
  server_tool_use: ['id', 'name', 'input'],
  web_search_tool_result: ['tool_use_id', 'content'],
  web_fetch_tool_result: ['tool_use_id', 'content'],
  code_execution_tool_result: ['tool_use_id', 'content'],
  tool_reference: ['tool_name'],
  container_upload: ['file_id'],
}

export function checkMessages(messages: unknown): void {
  if (messages === undefined) throw invalid('messages: Field required')
  if (!Array.isArray(messages)) throw invalid('messages: Input should be a valid list')
  if (messages.length === 0) throw invalid('messages: at least one message is required')
  for (const [index, message] of messages.entries()) {
    checkMessage(message, index, index === messages.length - 1)
  }
  if (messages[0]?.role === 'assistant') {
    throw invalid('messages: first message must use the "user" role')
  }
  checkToolPairs(messages.filter(isObject))
}

function checkMessage(message: unknown, index: number, last: boolean): void {
  const at = `messages.${index}`
  if (!isObject(message)) throw invalid(`${at}: Input should be a valid dictionary`)
  const { role, content } = message
  if (role !== 'user' && role !== 'assistant' && role !== 'system') {
    throw invalid(`${at}.role: Input should be 'user', 'assistant' or 'system'`)
  }
  for (const key in message) {
    if (key !== 'role' && key !== 'content') {
      throw invalid(`${at}.${key}: Extra inputs are not permitted`)
    }
  }
  if (content === undefined) throw invalid(`${at}.content: Field required`)
  if (typeof content !== 'string' && !Array.isArray(content)) {
    throw invalid(`${at}.content: Input should be a valid string or list`)
  }
  if (content.length === 0 && !(last && role === 'assistant')) {
    throw invalid(`${at}: ${role} messages must have non-empty content`)
  }
  if (last && role === 'assistant' && /\s$/.test(endOf(content))) {
    throw invalid('messages: final assistant content cannot end with trailing whitespace')
  }
  if (typeof content === 'string') return
  for (const [place, block] of content.entries()) {
    checkBlock(block, `${at}.content.${place}`, role)
  }
}

const endOf = (content: string | unknown[]): string =>
  typeof content === 'string' ? content : text(objects(content).at(-1)?.text)

function checkBlock(block: unknown, at: string, role: string): void {
  if (!isObject(block)) throw invalid(`${at}: Input should be a valid dictionary`)
  const type = text(block.type)
  const required = BLOCKS[type]
  if (!required) throw invalid(`${at}: Input tag '${type}' found using 'type' is not expected`)
  for (const key of required) {
    if (block[key] === undefined) throw invalid(`${at}.${type}.${key}: Field required`)
  }
  if (type === 'text' && block.text === '') {
    throw invalid('messages: text content blocks must be non-empty')
  }
  if (type === 'tool_use') checkToolUse(block, at)
  if (type === 'thinking' && !text(block.signature).startsWith(SIGNATURE)) {
    throw invalid(`${at}: Invalid \`signature\` in \`thinking\` block`)
  }
  if (type === 'image') checkImage(block.source, at)
  if (role === 'system' && type !== 'text') throw invalid(`${at}.type: Input should be 'text'`)
  if (role === 'assistant' && (type === 'image' || type === 'tool_result')) {
    throw invalid(`${at}: \`${type}\` blocks are not permitted in assistant messages`)
  }
}

function checkToolUse(block: Json, at: string): void {
  if (!/^[a-zA-Z0-9_-]+$/.test(text(block.id))) {
    throw invalid(`${at}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`)
  }
  if (!isObject(block.input)) {
    throw invalid(`${at}.tool_use.input: Input should be a valid dictionary`)
  }
}

function checkImage(source: unknown, at: string): void {
  const types = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']
  if (!isObject(source) || !['base64', 'url', 'file'].includes(text(source.type))) {
    throw invalid(`${at}.image.source: Input tag should be one of 'base64', 'url', 'file'`)
  }
  if (source.type === 'base64' && !types.includes(text(source.media_type))) {
    throw invalid(`${at}.image.source.base64.media_type: Input should be '${types.join("', '")}'`)
  }
}

/**
 * Requires that each tool_use is answered in the next user turn, whose first blocks are the
 * results.
 */
function checkToolPairs(messages: Json[]): void {
  let open: string[] = []
  let openAt = 0
  for (const [index, message] of messages.entries()) {
    if (message.role === 'system') continue
    const blocks = objects(message.content)
    if (message.role === 'assistant') {
      if (open.length > 0) throw unanswered(openAt, open)
      open = blocks.filter((block) => block.type === 'tool_use').map((block) => text(block.id))
      openAt = index
      continue
    }
    checkResults(blocks, open, index)
    const answered = blocks.map((block) => text(block.tool_use_id))
    const missing = open.filter((id) => !answered.includes(id))
    if (missing.length > 0) throw unanswered(openAt, missing)
    open = []
  }
  if (open.length > 0) throw unanswered(openAt, open)
}

function checkResults(blocks: Json[], open: string[], index: number): void {
  let otherSeen = false
  for (const [place, block] of blocks.entries()) {
    if (block.type !== 'tool_result') {
      otherSeen = true
      continue
    }
    const at = `messages.${index}.content.${place}`
    if (!open.includes(text(block.tool_use_id))) {
      throw invalid(
        `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ` +
          `${text(block.tool_use_id)}. Each \`tool_result\` block must have a corresponding ` +
          '`tool_use` block in the previous message.',
      )
    }
    if (otherSeen) throw invalid(`${at}: \`tool_result\` blocks must come first in the message`)
  }
}

function unanswered(index: number, ids: string[]): Error {
  return invalid(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately ` +
      `after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding ` +
      '`tool_result` block in the next message.',
  )
}
