/**
 * What has to change in a conversation before a messages-native vendor takes it: thinking that
 * carries no signature (it was another vendor's) and tool ids outside of the vendor's alphabet.
 * Nearly every conversation needs neither and goes out as the bytes it came in.
 */
import { isObject, type JsonObject } from '../../lib/json.ts'
import { stringifyWellFormed } from '../../lib/text/well-formed.ts'
import type { JsonEdits } from '../splice.ts'
import { fitToolId } from './tool-id.ts'

/** Edits for `spliceJson`: none, or `messages` written anew. */
export function editHistory({ messages }: JsonObject): JsonEdits {
  if (!Array.isArray(messages)) return {}
  const edited = messages.map(editMessage)
  if (edited.every((message, position) => message === messages[position])) return {}
  const kept = edited.filter((message) => message !== undefined)
  return { set: { messages: stringifyWellFormed(kept) } }
}

/** The very same message when it is in order; undefined when nothing of it is left. */
function editMessage(message: unknown): unknown {
  if (!isObject(message) || !Array.isArray(message.content)) return message
  const { content } = message
  const blocks = content.map(editBlock)
  if (blocks.every((block, position) => block === content[position])) return message
  const kept = blocks.filter((block) => block !== undefined)
  return kept.length > 0 ? { ...message, content: kept } : undefined
}

function editBlock(block: unknown): unknown {
  if (!isObject(block)) return block
  switch (block.type) {
    case 'thinking':
      return block.signature ? block : undefined
    case 'tool_use':
      return withFittingId(block, 'id')
    case 'tool_result':
      return withFittingId(block, 'tool_use_id')
    default:
      return block
  }
}

/** The same new id for the same old one, so that calls and results still find each other. */
function withFittingId(block: JsonObject, field: 'id' | 'tool_use_id'): JsonObject {
  const id = block[field]
  if (typeof id !== 'string') return block
  const fitting = fitToolId(id)
  return fitting === id ? block : { ...block, [field]: fitting }
}
