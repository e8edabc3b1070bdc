/**
 * Builds a conversation of the messages format: user and assistant alternate, and each call is
 * answered at the beginning of the next user turn. The chat format requires none of that.
 */
import type { JsonObject } from '../../../base/lib/json.ts'
import { fitToolId } from '../messages/tool-id.ts'
import { type MessagesBlock, textBlock } from './translate-part.ts'

export interface MessagesTurn {
  readonly role: 'user' | 'assistant'
  readonly content: MessagesBlock[]
}

export interface ToolUse {
  readonly id: string
  readonly name: string
  readonly input: unknown
  /** Further members of its block. */
  readonly more?: JsonObject
}

const INTERRUPTED = 'The tool call was interrupted: there is no result.'

export class Turns {
  private readonly turns: MessagesTurn[] = []
  /** Ids, as sent, of calls without a result, in order. */
  private readonly open = new Set<string>()
  /** The same, by the id before it was made unique: the last one first. */
  private readonly openByCallId = new Map<string, string[]>()
  private readonly sentIds = new Set<string>()
  /** The next number for an id that repeats. */
  private readonly numbers = new Map<string, number>()
  /** Content between calls and their results, which must follow them. */
  private waiting: MessagesBlock[] = []

  addUser(blocks: readonly MessagesBlock[]): void {
    if (blocks.length === 0) return
    this.closeCalls()
    this.add('user', blocks)
  }

  /** A system message between others becomes a marked user message. */
  addSystem(text: string): void {
    if (text === '') return
    const note = textBlock(`<system>\n${text}\n</system>`)
    if (this.open.size > 0) this.waiting.push(note)
    else this.add('user', [note])
  }

  addAssistant(blocks: readonly MessagesBlock[], calls: readonly ToolUse[]): void {
    this.closeCalls()
    const uses = calls.map(({ id, name, input, more }) => {
      return { type: 'tool_use', id: this.openCall(id), name, input, ...more }
    })
    // Calls with the same id are answered in order, and removed from the end.
    for (const ids of this.openByCallId.values()) ids.reverse()
    if (blocks.length + uses.length > 0) this.add('assistant', [...blocks, ...uses])
  }

  /** The answer to a call. One that answers no open call becomes a text of the user. */
  addResult(callId: string, content: readonly MessagesBlock[], isFailed = false): void {
    const id = this.takeOpen(callId)
    if (id === undefined) {
      this.addUser([textBlock('Tool result:'), ...content])
      return
    }
    const contentField = content.length > 0 ? { content } : {}
    const flag = isFailed ? { is_error: true } : {}
    this.add('user', [{ type: 'tool_result', tool_use_id: id, ...contentField, ...flag }])
    if (this.open.size === 0) this.closeCalls()
  }

  finish(): readonly MessagesTurn[] {
    this.closeCalls()
    // The format requires a user turn first.
    if (this.turns[0]?.role === 'assistant') {
      this.turns.unshift({ role: 'user', content: [textBlock('(the conversation begins)')] })
    }
    return this.turns
  }

  private add(role: MessagesTurn['role'], blocks: readonly MessagesBlock[]): void {
    const last = this.turns.at(-1)
    if (last?.role === role) for (const block of blocks) last.content.push(block)
    else this.turns.push({ role, content: [...blocks] })
  }

  /** Ids must be unique over the whole conversation; some vendors count from 0 in every turn. */
  private openCall(callId: string): string {
    const fittingId = fitToolId(callId)
    let id = fittingId
    let number = this.numbers.get(fittingId) ?? 2
    for (; this.sentIds.has(id); number += 1) id = `${fittingId}_${number}`
    this.numbers.set(fittingId, number)
    this.sentIds.add(id)
    this.open.add(id)
    const others = this.openByCallId.get(fittingId)
    if (others) others.push(id)
    else this.openByCallId.set(fittingId, [id])
    return id
  }

  /** Removes the first open call with this id, and returns the id as sent. */
  private takeOpen(callId: string): string | undefined {
    const id = this.openByCallId.get(fitToolId(callId))?.pop()
    if (id !== undefined) this.open.delete(id)
    return id
  }

  private closeCalls(): void {
    for (const id of this.open) {
      this.add('user', [{ type: 'tool_result', tool_use_id: id, content: INTERRUPTED }])
    }
    this.open.clear()
    this.openByCallId.clear()
    const { waiting } = this
    this.waiting = []
    if (waiting.length > 0) this.add('user', waiting)
  }
}
