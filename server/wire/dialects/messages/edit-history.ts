/**
 * Edits a conversation that a messages-native vendor would refuse
 * (docs/protocols/anthropic.md#request): drops thinking without a signature and citations without
 * an index, which are another vendor's, and replaces tool ids with other characters. Nearly every
 * conversation needs no edits and passes unchanged.
 */
import { isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { stringifyWellFormed } from '../../../base/lib/text/well-formed.ts'
import { readMarked } from '../contents/signature.ts'
import type { JsonEdits } from '../splice.ts'
import { fitToolId } from './tool-id.ts'

/** Returns edits for `spliceJson`: none, or rewritten `messages`. */
export function editHistory({ messages }: JsonObject): JsonEdits {
  if (!Array.isArray(messages)) return {}
  const edited = messages.map(editMessage)
  if (edited.every((message, position) => message === messages[position])) return {}
  const kept = edited.filter((message) => message !== undefined)
  return { set: { messages: stringifyWellFormed(kept) } }
}

/** Returns the same object if nothing changes, or undefined if nothing is left. */
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
      return block.signature && !readMarked(block.signature) ? block : undefined
    case 'text':
      return withOwnCitations(block)
    case 'tool_use':
      return withFittingId(block, 'id')
    case 'tool_result':
      return withFittingId(block, 'tool_use_id')
    default:
      return block
  }
}

function withOwnCitations(block: JsonObject): JsonObject {
  const { citations, ...rest } = block
  if (!Array.isArray(citations) || !citations.some(isForeign)) return block
  const own = citations.filter((citation) => !isForeign(citation))
  return own.length > 0 ? { ...rest, citations: own } : rest
}

function isForeign(citation: unknown): boolean {
  return member(citation, 'encrypted_index') === ''
}

/** Replaces an id by one that depends on it alone, so that calls and results still match. */
function withFittingId(block: JsonObject, field: 'id' | 'tool_use_id'): JsonObject {
  const id = block[field]
  if (typeof id !== 'string') return block
  const fittingId = fitToolId(id)
  return fittingId === id ? block : { ...block, [field]: fittingId }
}
