/** Translates the messages of a chat to `system` and `messages` of the messages format. */

import { createInnerReader, type ReadInner } from '../../../base/lib/inner-json.ts'
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { readArguments } from '../chat/tool-calls.ts'
import { expectName, InvalidRequest } from '../invalid-request.ts'
import { type MessagesBlock, translateChatContent } from './translate-part.ts'
import { type MessagesTurn, type ToolUse, Turns } from './turns.ts'

export interface MessagesConversation {
  /** Blocks, so that a mark for caching survives; empty for none. */
  readonly system: readonly MessagesBlock[]
  readonly messages: readonly MessagesTurn[]
}

/** Converts the parts of messages to blocks, which differ by target format. */
export interface ContentReading {
  readonly content: (content: unknown, param: string) => MessagesBlock[]
  /** Returns the blocks of an assistant message that are in separate members. */
  readonly before: (message: JsonObject) => readonly MessagesBlock[]
  readonly after: (message: JsonObject, param: string) => readonly MessagesBlock[]
  /** Returns further members of a call's block. */
  readonly call: (call: unknown) => JsonObject
}

interface MessageReading extends ContentReading {
  readonly inner: ReadInner
}

const OF_MESSAGES: ContentReading = {
  content: translateChatContent,
  before: readThinking,
  after: ({ refusal }) => translateChatContent(asString(refusal), 'refusal'),
  call: () => ({}),
}

export function translateChatMessages(
  messages: unknown,
  reading: ContentReading = OF_MESSAGES,
): MessagesConversation {
  if (!Array.isArray(messages)) throw new InvalidRequest('messages', 'must be an array')
  const turns = new Turns()
  const own = { ...reading, inner: createInnerReader() }
  const system: MessagesBlock[] = []
  let isLeading = true
  for (const [position, message] of messages.entries()) {
    const param = `messages[${position}]`
    if (!isObject(message)) throw new InvalidRequest(param, 'must be an object')
    const isSystem = message.role === 'system' || message.role === 'developer'
    isLeading &&= isSystem
    if (isLeading) system.push(...readContent(message, param, own))
    else addMessage(turns, message, param, own)
  }
  const translated = trimPrefill(turns.finish())
  // The format requires a user turn.
  if (translated.length === 0 && system.length > 0) {
    return { system: [], messages: [{ role: 'user', content: system }] }
  }
  return { system, messages: translated }
}

function addMessage(
  turns: Turns,
  message: JsonObject,
  param: string,
  reading: MessageReading,
): void {
  const content = readContent(message, param, reading)
  switch (message.role) {
    case 'user':
      turns.addUser(content)
      return
    case 'assistant':
      turns.addAssistant(
        [...reading.before(message), ...content, ...reading.after(message, param)],
        readCalls(message, param, reading),
      )
      return
    case 'tool':
      turns.addResult(
        readId(message.tool_call_id, `${param}.tool_call_id`),
        content,
        message.is_error === true,
      )
      return
    case 'function':
      turns.addResult(readId(message.name, `${param}.name`), content)
      return
    case 'system':
    case 'developer':
      turns.addSystem(content.map(readText).join('\n'))
      return
    default:
      throw new InvalidRequest(
        `${param}.role`,
        'must be system, developer, user, assistant or tool',
      )
  }
}

/** Some chat clients mark a whole message for caching: the format marks its last block. */
function readContent(message: JsonObject, param: string, reading: ContentReading): MessagesBlock[] {
  const blocks = reading.content(message.content, `${param}.content`)
  const last = blocks.at(-1)
  const { cache_control: mark } = message
  return last && isObject(mark)
    ? [...blocks.slice(0, -1), { ...last, cache_control: mark }]
    : blocks
}

/** Returns the text of a block; in some formats it is in the block's part. */
function readText({ text, part }: MessagesBlock): string {
  return asString(text) ?? asString(member(part, 'text')) ?? ''
}

/** Reasoning with the signature that the vendor requires; chat's own has none. */
function readThinking({ thinking_blocks: signed }: JsonObject): MessagesBlock[] {
  if (!Array.isArray(signed)) return []
  return signed.flatMap((block): MessagesBlock[] => {
    const data = asString(member(block, 'data'))
    if (data) return [{ type: 'redacted_thinking', data }]
    const thinking = asString(member(block, 'thinking'))
    const signature = asString(member(block, 'signature'))
    return thinking === undefined || !signature ? [] : [{ type: 'thinking', thinking, signature }]
  })
}

function readId(value: unknown, param: string): string {
  if (typeof value !== 'string' || value === '') throw new InvalidRequest(param, 'is required')
  return value
}

/** A legacy `function_call` has no id, so the function's name is used on both sides. */
function readCalls(message: JsonObject, param: string, reading: MessageReading): ToolUse[] {
  const { tool_calls: calls, function_call: legacy } = message
  if (isObject(legacy)) {
    const name = expectName(legacy.name, `${param}.function_call.name`)
    return [{ id: name, name, input: parseInput(legacy.arguments, reading) }]
  }
  if (calls === undefined || calls === null) return []
  if (!Array.isArray(calls)) throw new InvalidRequest(`${param}.tool_calls`, 'must be an array')
  return calls.map((call, position) => {
    const at = `${param}.tool_calls[${position}]`
    const custom = member(call, 'custom')
    const id = readId(member(call, 'id'), `${at}.id`)
    if (isObject(custom)) {
      const name = expectName(custom.name, `${at}.custom.name`)
      const input = { input: asString(custom.input) ?? '' }
      return { id, name, input, more: reading.call(call) }
    }
    const functionCall = member(call, 'function')
    return {
      id,
      name: expectName(member(functionCall, 'name'), `${at}.function.name`),
      input: parseInput(member(functionCall, 'arguments'), reading),
      more: reading.call(call),
    }
  })
}

/** The format requires an object; malformed and too deep arguments are kept inside one. */
function parseInput(value: unknown, { inner }: MessageReading): JsonObject {
  const text = readArguments(value)
  if (text.trim() === '') return {}
  const input = inner(text)
  return isObject(input) ? input : { raw_arguments: text }
}

/** The format refuses a prefilled answer that ends in white space. */
function trimPrefill(turns: readonly MessagesTurn[]): readonly MessagesTurn[] {
  const last = turns.at(-1)
  if (last?.role !== 'assistant') return turns
  const content = last.content.map((block) => {
    return typeof block.text === 'string' ? { ...block, text: block.text.trimEnd() } : block
  })
  const nonEmpty = content.filter(({ text }) => text !== '')
  return [...turns.slice(0, -1), ...(nonEmpty.length > 0 ? [{ ...last, content: nonEmpty }] : [])]
}
