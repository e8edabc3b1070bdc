/** Reads the parts of a chat message, or of a delta, under the names of all vendors. */
import { member } from '../../../base/lib/json.ts'

/** Returns the content as a single text: most vendors send a string, a few an array of parts. */
export function readContentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  let text = ''
  for (const part of content) {
    const piece = typeof part === 'string' ? part : member(part, 'text')
    if (typeof piece === 'string') text += piece
  }
  return text
}

/**
 * Returns reasoning text (docs/protocols/openai.md#reasoning-text). Several fields may repeat the
 * same text, so the first that is not empty counts: `reasoning_content`, `reasoning`, `thinking`,
 * `reasoning_details`, and thinking parts in the content.
 */
export function readReasoning(message: Readonly<Record<string, unknown>>): string {
  for (const value of [message.reasoning_content, message.reasoning, message.thinking]) {
    if (typeof value === 'string' && value !== '') return value
  }
  const { reasoning_details: details, content } = message
  if (Array.isArray(details)) return details.map(readDetail).join('')
  if (!Array.isArray(content)) return ''
  return content.map((part) => readContentText(member(part, 'thinking'))).join('')
}

function readDetail(detail: unknown): string {
  const text = member(detail, 'text') ?? member(detail, 'summary')
  return typeof text === 'string' ? text : ''
}
