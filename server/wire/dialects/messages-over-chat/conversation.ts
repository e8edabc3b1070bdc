/**
 * Builds a chat conversation turn by turn. The chat format requires a `tool` message for every tool
 * call, directly after the call; the messages format allows texts, images and system notes in
 * between. While calls are open, results are added at once and everything else waits.
 */

import { pseudonym } from '../../../base/lib/text/pseudonym.ts'
import type { ChatQuirks } from '../chat/quirks.ts'
import {
  type ChatMessage,
  type ChatPart,
  isTextPart,
  joinParts,
  LEFT_OUT,
  textPart,
  withoutMedia,
} from './chat-request.ts'

const ID_LENGTH_MAX = 40
const MARK_LENGTH = 8
const INTERRUPTED = 'The tool call was interrupted: there is no result.'
const CALL_FAILED = 'Error: the tool call failed.'
const SEE_BELOW = '[the result is in the next message]'
/** Google's own stand-in for the signature of a call that it has not signed. */
const SIGNATURE = { google: { thought_signature: 'skip_thought_signature_validator' } }

export class ChatConversation {
  readonly messages: ChatMessage[] = []
  private readonly quirks: ChatQuirks
  /** Ids of calls that no tool message has answered yet, in order. */
  private readonly open = new Set<string>()
  private waiting: (() => void)[] = []
  /**
   * The message that others were joined to, with all of their parts; its content is written later.
   */
  private joined: { readonly message: ChatMessage; readonly parts: ChatPart[] } | undefined

  constructor(quirks: ChatQuirks) {
    this.quirks = quirks
  }

  addSystem(text: string): void {
    if (text !== '') this.afterTools(() => this.putSystem(text))
  }

  addUser(parts: readonly ChatPart[]): void {
    if (parts.length > 0) this.afterTools(() => this.putUser(parts))
  }

  addAssistant(message: ChatMessage): void {
    this.closeTools()
    if (message.tool_calls) {
      const extra = this.quirks.signsCalls ? { extra_content: SIGNATURE } : {}
      message.tool_calls = message.tool_calls.map((call) => {
        return { ...call, id: fitCallId(call.id), ...extra }
      })
    }
    const last = this.messages.at(-1)
    const joins = last?.role === 'assistant' && !last.tool_calls && this.quirks.strict_role_order
    if (last && joins) Object.assign(last, message, { content: joinTexts(last, message) })
    else this.messages.push(message)
    for (const { id } of message.tool_calls ?? []) this.open.add(id)
  }

  /** The answer to a call. One that answers no open call becomes a text of the user. */
  addToolResult(id: string, parts: readonly ChatPart[], isFailed = false): void {
    const callId = fitCallId(id)
    if (this.quirks.beforeMessages && this.open.delete(callId)) {
      const content = joinParts(parts)
      const flag = isFailed ? ({ is_error: true } as const) : {}
      this.messages.push({ role: 'tool', tool_call_id: callId, content, ...flag })
      if (this.open.size === 0) this.closeTools()
      return
    }
    const texts = parts.filter(isTextPart).map(({ text }) => text)
    const media = parts.filter((part) => !isTextPart(part))
    if (isFailed) markFailed(texts)
    if (!this.open.delete(callId)) {
      this.addUser([textPart(`Tool result: ${texts.join('\n')}`), ...media])
      return
    }
    const dropsMedia = media.length > 0 && this.quirks.strict_role_order
    if (dropsMedia) texts.push(LEFT_OUT)
    if (texts.length === 0 && media.length > 0) texts.push(SEE_BELOW)
    this.messages.push({ role: 'tool', tool_call_id: callId, content: texts.join('\n') })
    if (!dropsMedia) this.addUser(media)
    if (this.open.size === 0) this.closeTools()
  }

  finish(): readonly ChatMessage[] {
    this.closeTools()
    this.writeJoined()
    return this.messages
  }

  private afterTools(put: () => void): void {
    if (this.open.size > 0) this.waiting.push(put)
    else put()
  }

  /** Answers the open calls, then adds the messages that waited for them. */
  private closeTools(): void {
    for (const id of this.open) {
      this.messages.push({ role: 'tool', tool_call_id: id, content: INTERRUPTED })
    }
    this.open.clear()
    const { waiting } = this
    this.waiting = []
    for (const put of waiting) put()
  }

  private putSystem(text: string): void {
    if (this.quirks.system_in_the_middle && !this.quirks.strict_role_order) {
      this.messages.push({ role: 'system', content: text })
      return
    }
    const note = [textPart(`<system>\n${text}\n</system>`)]
    const last = this.messages.at(-1)
    // Appends to the previous message, so that the next turn has the same prefix.
    if (last?.role === 'user') this.append(last, note)
    else this.putUser(note)
  }

  private putUser(parts: readonly ChatPart[]): void {
    const last = this.messages.at(-1)
    const joins = last?.role === 'user' || last?.role === 'tool'
    if (last && joins && this.quirks.strict_role_order) this.append(last, parts)
    else this.messages.push({ role: 'user', content: joinParts(parts) })
  }

  private append(message: ChatMessage, parts: readonly ChatPart[]): void {
    const { content, role } = message
    if (this.joined?.message !== message) {
      this.writeJoined()
      const oldParts = typeof content === 'string' ? [textPart(content)] : (content ?? [])
      this.joined = { message, parts: oldParts.filter((part) => !isEmpty(part)) }
    }
    const newParts = role === 'tool' ? parts.map(withoutMedia) : parts
    for (const part of newParts) if (!isEmpty(part)) this.joined.parts.push(part)
  }

  private writeJoined(): void {
    if (this.joined) this.joined.message.content = joinParts(this.joined.parts)
    this.joined = undefined
  }
}

/** Marks a failed tool result in its text, since the chat format has no flag for it. */
function markFailed(texts: string[]): void {
  const [first = ''] = texts
  if (first === '') texts[0] = CALL_FAILED
  else if (!/^\W*error\b/i.test(first)) texts[0] = `Error: ${first}`
}

function joinTexts({ content: first }: ChatMessage, { content: second }: ChatMessage) {
  if (typeof first !== 'string') return typeof second === 'string' ? second : null
  // Unlike joining a list, this copies neither text.
  return typeof second === 'string' ? `${first}\n${second}` : first
}

function isEmpty(part: ChatPart): boolean {
  return isTextPart(part) && part.text === ''
}

/**
 * Shortens ids of tool calls: OpenAI's chat refuses those of more than 40 characters. Returns the
 * id if it fits, else one that depends on it alone, so that results match.
 */
function fitCallId(id: string): string {
  if (id.length <= ID_LENGTH_MAX) return id
  return `${id.slice(0, ID_LENGTH_MAX - MARK_LENGTH - 1)}_${pseudonym(id, MARK_LENGTH)}`
}
