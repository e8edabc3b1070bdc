/**
 * Translates `instructions` and `input` of the Responses dialect to the messages of a chat. The
 * items of one turn (reasoning, messages, calls) become one assistant message, because models that
 * see their turns split stop early.
 */
import { createInnerReader } from '../../../base/lib/inner-json.ts'
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { stringifyWellFormed } from '../../../base/lib/text/well-formed.ts'
import type { ChatQuirks } from '../chat/quirks.ts'
import { carrySignature, readMarked } from '../contents/signature.ts'
import { expectName, InvalidRequest } from '../invalid-request.ts'
import {
  addReasoning,
  type ChatMessage,
  type ChatToolCall,
  type SignedThinking,
  textPart,
} from '../messages-over-chat/chat-request.ts'
import { ChatConversation } from '../messages-over-chat/conversation.ts'
import { openReasoning } from './sealed-reasoning.ts'
import type { CallerTool, ToolMap } from './tool-map.ts'
import { joinTexts, translateParts } from './translate-part.ts'
import { readVendorCall } from './vendor-call.ts'

export function translateInput(
  request: JsonObject,
  quirks: ChatQuirks,
  map: ToolMap,
): ChatMessage[] {
  const reader = new InputReader(quirks, map)
  const { input, instructions } = request
  if (typeof instructions === 'string') reader.addLeading(instructions)
  else if (instructions !== undefined && instructions !== null) {
    throw new InvalidRequest('instructions', 'must be a string')
  }
  if (typeof input === 'string') reader.addUser(input)
  else if (Array.isArray(input)) reader.addItems(input)
  else throw new InvalidRequest('input', 'must be a string or an array')
  return reader.finish()
}

/**
 * States of a call's output that say that the call failed. No set: it would compare each long text
 * with all others of its length that were looked up before.
 */
const FAILED: readonly unknown[] = ['failed', 'incomplete']

class InputReader {
  private readonly quirks: ChatQuirks
  private readonly map: ToolMap
  private readonly conversation: ChatConversation
  private readonly readInner = createInnerReader()
  /** System texts before the first turn: they become one message at the front. */
  private readonly leading: string[] = []
  private isLeading = true
  private texts: string[] = []
  private reasoning = ''
  private thinking: SignedThinking[] = []
  /** The signature that belongs to the next call of the turn, or to its text. */
  private mark: string | undefined
  private calls: ChatToolCall[] = []

  constructor(quirks: ChatQuirks, map: ToolMap) {
    this.quirks = quirks
    this.map = map
    this.conversation = new ChatConversation(quirks)
  }

  addLeading(text: string): void {
    if (text !== '') this.leading.push(text)
  }

  addUser(text: string): void {
    this.conversation.addUser(text === '' ? [] : [textPart(text)])
  }

  addItems(items: readonly unknown[]): void {
    for (const [position, item] of items.entries()) {
      const param = `input[${position}]`
      if (!isObject(item)) throw new InvalidRequest(param, 'must be an object')
      this.addItem(item, param)
    }
  }

  finish(): ChatMessage[] {
    this.endTurn()
    const messages = [...this.conversation.finish()]
    const system = this.leading.join('\n\n')
    if (system !== '') messages.unshift({ role: 'system', content: system })
    return messages
  }

  private addItem(item: JsonObject, param: string): void {
    const type = item.type ?? 'message'
    if (type !== 'message') this.isLeading = false
    switch (type) {
      case 'message':
        this.addMessage(item, param)
        return
      case 'reasoning':
        this.addReasoning(item)
        return
      case 'function_call':
        this.addCall(item, param, 'function', readArguments(item.arguments))
        return
      case 'custom_tool_call':
        this.addCall(item, param, 'custom', stringifyWellFormed({ input: item.input ?? '' }))
        return
      case 'tool_search_call':
        // Without a call id the vendor ran the search itself.
        if (!item.call_id) return
        this.addCall(item, param, 'tool_search', readArguments(item.arguments))
        return
      case 'tool_search_output':
        if (item.call_id) this.addSearchOutput(item, param)
        return
      case 'additional_tools':
      case 'configuration_update':
        // Read with the tools and the settings of the request.
        return
      case 'compaction':
      case 'compaction_summary':
        throw new InvalidRequest(param, 'only its vendor can read it: send the items themselves')
      case 'item_reference':
        throw new InvalidRequest(
          param,
          'this model keeps no items: send the item itself, as the AI SDK does with `store: false`',
        )
      default:
        this.addOther(item, param)
    }
  }

  /**
   * Adds calls of tools without a definition that the caller runs (a shell, patches, a computer),
   * results of any call, and calls that a vendor ran, with their results. Throws for other types.
   */
  private addOther(item: JsonObject, param: string): void {
    const type = asString(item.type) ?? ''
    if (type.endsWith('_call_output')) {
      this.addOutput(item, param)
      return
    }
    const action = item.action ?? item.operation
    if (type.endsWith('_call') && item.call_id && isObject(action)) {
      const name = type.slice(0, -'_call'.length)
      this.addCall({ ...item, name }, param, 'function', stringifyWellFormed(action))
      return
    }
    const call = readVendorCall(item, this.readInner)
    if (!call) throw new InvalidRequest(`${param}.type`, 'is not supported by this model')
    if (!call.result) return
    const id = asString(item.id) || param
    const caller = { name: call.name, call_id: id }
    this.addCall(caller, param, 'function', stringifyWellFormed(call.input))
    this.endTurn()
    const parts = translateParts(call.result, param, this.quirks)
    this.conversation.addToolResult(id, parts, call.isFailed)
  }

  private addReasoning(item: JsonObject): void {
    this.reasoning += readReasoning(item)
    const sealed = openReasoning(item.encrypted_content, this.readInner)
    const mark = sealed && 'signature' in sealed ? readMarked(sealed.signature) : undefined
    if (mark !== undefined) this.mark = mark
    else if (sealed) this.thinking.push(sealed)
  }

  private addMessage({ role, content }: JsonObject, param: string): void {
    const at = `${param}.content`
    const quirks = { ...this.quirks, file_parts: this.quirks.file_parts !== false }
    const parts = translateParts(content, at, quirks)
    switch (role) {
      case 'system':
      case 'developer':
        this.addSystem(joinTexts(parts, '\n'))
        return
      case 'user':
        this.isLeading = false
        this.endTurn()
        this.conversation.addUser(parts)
        return
      case 'assistant':
        this.isLeading = false
        this.texts.push(joinTexts(parts, ''))
        return
      default:
        throw new InvalidRequest(`${param}.role`, 'must be user, assistant, system or developer')
    }
  }

  /**
   * Kept in place once the conversation has begun: moving it to the front would break prompt
   * caches.
   */
  private addSystem(text: string): void {
    if (this.isLeading) {
      this.addLeading(text)
      return
    }
    this.endTurn()
    this.conversation.addSystem(text)
  }

  private addCall(item: JsonObject, param: string, kind: CallerTool['kind'], text: string): void {
    const id = readCallId(item, param)
    const name = kind === 'tool_search' ? kind : expectName(item.name, `${param}.name`)
    const namespace = asString(item.namespace)
    if (namespace) expectName(namespace, `${param}.namespace`)
    const tool = { kind, name, ...(namespace === undefined ? {} : { namespace }) }
    const functionCall = { name: this.map.toChat(tool), arguments: text }
    this.calls.push({ id, type: 'function', function: functionCall, ...this.takeMark() })
  }

  private addOutput(item: JsonObject, param: string): void {
    const id = readCallId(item, param)
    const { status } = item
    this.endTurn()
    const parts = translateParts(readOutput(item.output), `${param}.output`, this.quirks)
    this.conversation.addToolResult(id, parts, FAILED.includes(status))
  }

  private addSearchOutput(item: JsonObject, param: string): void {
    const tools = Array.isArray(item.tools) ? item.tools.filter(isObject) : []
    const names = tools.map(({ name }) => asString(name) ?? '').join(', ')
    this.endTurn()
    const found = textPart(`These tools are available now: ${names}`)
    this.conversation.addToolResult(readCallId(item, param), [found])
  }

  /** Only a request that is translated a second time may have members of other vendors. */
  private takeMark(): JsonObject {
    const { mark } = this
    this.mark = undefined
    return this.quirks.beforeMessages ? carrySignature(mark) : {}
  }

  /** Ends the assistant's turn: its text, reasoning and calls become one message. */
  private endTurn(): void {
    const { texts, reasoning, thinking, calls, quirks } = this
    const carried = this.takeMark()
    const text = texts.filter((piece) => piece !== '').join('\n')
    this.texts = []
    this.reasoning = ''
    this.thinking = []
    this.calls = []
    if (text === '' && calls.length === 0) return
    const none = quirks.content_beside_tool_calls === 'null' ? null : ''
    const message: ChatMessage = {
      role: 'assistant',
      content: text === '' ? none : text,
      ...carried,
    }
    if (calls.length > 0) message.tool_calls = calls
    addReasoning(message, reasoning, quirks)
    if (quirks.beforeMessages && thinking.length > 0) message.thinking_blocks = thinking
    this.conversation.addAssistant(message)
  }
}

/** Reads the text of earlier reasoning; `encrypted_content` is only for its own vendor. */
function readReasoning({ content, summary }: JsonObject): string {
  for (const parts of [content, summary]) {
    if (!Array.isArray(parts)) continue
    const text = parts.map((part) => asString(member(part, 'text')) ?? '').join('\n')
    if (text !== '') return text
  }
  return ''
}

/** Returns a result as a text or content parts: other objects become their JSON text. */
function readOutput(output: unknown): unknown {
  if (Array.isArray(output)) {
    return output.map((part) => {
      const isData = isObject(part) && part.type === undefined && part.text === undefined
      return isData ? textPart(stringifyWellFormed(part)) : part
    })
  }
  if (!isObject(output)) return output
  const { type, image_url: image } = output
  if (type === 'computer_screenshot') return [{ type: 'input_image', image_url: image }]
  return stringifyWellFormed(output)
}

/** Returns an object's JSON text, as the chat format requires. */
function readArguments(value: unknown): string {
  if (isObject(value)) return stringifyWellFormed(value)
  return asString(value) || '{}'
}

function readCallId(item: JsonObject, param: string): string {
  const id = asString(item.call_id) || asString(item.id)
  if (!id) throw new InvalidRequest(`${param}.call_id`, 'is required')
  return id
}
