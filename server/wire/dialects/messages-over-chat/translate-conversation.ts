/** Translates `system` and `messages` of the messages format to the messages of a chat. */
import { asString, isObject, type JsonObject } from '../../../base/lib/json.ts'
import { stringifyWellFormed } from '../../../base/lib/text/well-formed.ts'
import type { ChatQuirks } from '../chat/quirks.ts'
import { carrySignature, readMarked } from '../contents/signature.ts'
import { InvalidRequest } from '../invalid-request.ts'
import {
  addReasoning,
  type ChatMessage,
  type ChatPart,
  type ChatToolCall,
  textPart,
  withoutMedia,
} from './chat-request.ts'
import { ChatConversation } from './conversation.ts'
import type { ToolNames } from './tool-names.ts'
import { readBlock, translateBlock, translateBlocks } from './translate-block.ts'

/** Claude Code's own billing line, which is useless to a model and different in every release. */
const BILLING_HEADER = /^x-anthropic-billing-header:[^\n]*\n?/

export function translateConversation(
  request: JsonObject,
  quirks: ChatQuirks,
  names: ToolNames,
): readonly ChatMessage[] {
  const { messages } = request
  if (!Array.isArray(messages)) throw new InvalidRequest('messages', 'must be an array')
  const conversation = new ChatConversation(quirks)
  for (const [position, message] of messages.entries()) {
    const param = `messages[${position}]`
    if (!isObject(message)) throw new InvalidRequest(param, 'must be an object')
    addMessage(conversation, message, param, quirks, names)
  }
  const system = readSystem(request.system, 'system', quirks)
  const translated = conversation.finish()
  return system === '' ? translated : [{ role: 'system', content: system }, ...translated]
}

function addMessage(
  conversation: ChatConversation,
  { role, content }: JsonObject,
  param: string,
  quirks: ChatQuirks,
  names: ToolNames,
): void {
  const at = `${param}.content`
  switch (role) {
    case 'user':
      addUser(conversation, content, at, quirks)
      return
    case 'assistant':
      addAssistant(conversation, content, at, quirks, names)
      return
    case 'system':
      conversation.addSystem(readSystem(content, at, quirks))
      return
    default:
      throw new InvalidRequest(`${param}.role`, 'must be user, assistant or system')
  }
}

/** Joins all texts in order, without the caller's billing line. */
function readSystem(content: unknown, param: string, quirks: ChatQuirks): string {
  const texts = translateBlocks(content, param, quirks).map((part) =>
    withoutMedia(part).text.replace(BILLING_HEADER, ''),
  )
  return texts.filter((text) => text !== '').join('\n\n')
}

function addUser(
  conversation: ChatConversation,
  content: unknown,
  param: string,
  quirks: ChatQuirks,
): void {
  if (!Array.isArray(content)) {
    conversation.addUser(translateBlocks(content, param, quirks))
    return
  }
  const otherBlocks: unknown[] = []
  for (const [position, block] of content.entries()) {
    if (isObject(block) && block.type === 'tool_result') {
      addToolResult(conversation, block, `${param}[${position}]`, quirks)
    } else {
      otherBlocks.push(block)
    }
  }
  conversation.addUser(translateBlocks(otherBlocks, param, quirks))
}

function addToolResult(
  conversation: ChatConversation,
  block: JsonObject,
  param: string,
  quirks: ChatQuirks,
): void {
  const { tool_use_id: callId } = block
  if (typeof callId !== 'string') throw new InvalidRequest(`${param}.tool_use_id`, 'is required')
  const parts = translateBlocks(block.content, `${param}.content`, quirks)
  conversation.addToolResult(callId, parts, block.is_error === true)
}

/** The combined blocks of one assistant message. */
interface AssistantTurn {
  text: string
  reasoning: string
  readonly calls: ChatToolCall[]
  readonly images: ChatPart[]
  /** The signature that belongs to the next part, or to the text. */
  mark: string | undefined
}

function addAssistant(
  conversation: ChatConversation,
  content: unknown,
  param: string,
  quirks: ChatQuirks,
  names: ToolNames,
): void {
  const turn: AssistantTurn = { text: '', reasoning: '', calls: [], images: [], mark: undefined }
  const blocks = typeof content === 'string' ? [textPart(content)] : (content ?? [])
  if (!Array.isArray(blocks)) throw new InvalidRequest(param, 'must be a string or an array')
  for (const [position, value] of blocks.entries()) {
    const at = `${param}[${position}]`
    const block = readBlock(value, at)
    if (block.type === 'tool_use') {
      turn.calls.push({ ...translateToolUse(block, at, names), ...takeMark(turn, quirks) })
    } else if (block.type === 'thinking') {
      turn.reasoning += asString(block.thinking) ?? ''
      turn.mark = readMarked(block.signature) ?? turn.mark
    } else if (block.type === 'image' && quirks.beforeMessages) {
      const carried = takeMark(turn, quirks)
      for (const part of translateBlock(block, at, quirks))
        turn.images.push({ ...part, ...carried })
    } else turn.text += readTexts(translateBlock(block, at, quirks))
  }
  const message = buildAssistant(turn, quirks)
  if (message) conversation.addAssistant(message)
}

/** Only a request that is translated a second time may have members of other vendors. */
function takeMark(turn: AssistantTurn, quirks: ChatQuirks): JsonObject {
  const { mark } = turn
  turn.mark = undefined
  return quirks.beforeMessages ? carrySignature(mark) : {}
}

function readTexts(parts: readonly ChatPart[]): string {
  return parts.map((part) => withoutMedia(part).text).join('')
}

/** Returns undefined for a turn without content for the model. */
function buildAssistant(turn: AssistantTurn, quirks: ChatQuirks): ChatMessage | undefined {
  const { text, reasoning, calls, images } = turn
  if (text === '' && calls.length === 0 && images.length === 0) return undefined
  const none = quirks.content_beside_tool_calls === 'null' ? null : ''
  const message: ChatMessage = { role: 'assistant', content: text === '' ? none : text }
  if (calls.length > 0) message.tool_calls = calls
  if (images.length > 0) message.images = images
  Object.assign(message, takeMark(turn, quirks))
  addReasoning(message, reasoning, quirks)
  return message
}

function translateToolUse(block: JsonObject, param: string, names: ToolNames): ChatToolCall {
  const { id, name, input } = block
  if (typeof id !== 'string' || id === '') throw new InvalidRequest(`${param}.id`, 'is required')
  if (typeof name !== 'string') throw new InvalidRequest(`${param}.name`, 'is required')
  const functionCall = { name: names.toChat(name), arguments: stringifyWellFormed(input ?? {}) }
  return { id, type: 'function', function: functionCall }
}
