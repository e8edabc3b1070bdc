/**
 * The output items of generated text: messages and reasoning. Each item is a small state object
 * that emits its own events, from `added` to `done`.
 */

import type { JsonObject } from '../../../base/lib/json.ts'
import { isObject, writeJson } from '../../../base/lib/json.ts'
import type { SignedThinking } from '../messages-over-chat/chat-request.ts'
import { sealReasoning } from './sealed-reasoning.ts'

/** Takes an event: its type, and its own members as JSON text without the braces. */
export type EventSink = (type: string, members: string) => void

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export interface OutputItem {
  /** Returns the item in its current state. */
  build(status: ItemStatus): JsonObject
  /** Emits the remaining events of the item, once. */
  close(status: ItemStatus): void
}

/** The values that identify an item in all its events. */
export interface ItemPlace {
  readonly id: string
  readonly index: number
  readonly emit: EventSink
}

export function emitAdded({ index, emit }: ItemPlace, item: JsonObject): void {
  emit('response.output_item.added', `"output_index":${index},"item":${writeJson(item)}`)
}

export function emitDone({ index, emit }: ItemPlace, item: JsonObject): void {
  emit('response.output_item.done', `"output_index":${index},"item":${writeJson(item)}`)
}

/** `item_id` and `output_index`, which nearly every event has. */
export function placeMembers({ id, index }: ItemPlace): string {
  return `"item_id":${JSON.stringify(id)},"output_index":${index}`
}

export type PartKind = 'output_text' | 'refusal'

interface Part {
  readonly kind: PartKind
  readonly annotations: JsonObject[]
  text: string
}

/** A message of the assistant: text, and where the model refused, its refusal. */
export class MessageItem implements OutputItem {
  private readonly place: ItemPlace
  private readonly parts: Part[] = []

  constructor(place: ItemPlace) {
    this.place = place
    emitAdded(place, this.build('in_progress'))
  }

  add(kind: PartKind, text: string): void {
    let part = this.parts.at(-1)
    if (part?.kind !== kind) {
      this.closePart()
      part = this.openPart(kind)
    }
    part.text += text
    const logprobs = kind === 'output_text' ? ',"logprobs":[]' : ''
    this.emit(`response.${kind}.delta`, `,"delta":${JSON.stringify(text)}${logprobs}`)
  }

  /** The text of all parts but refusals. */
  get text(): string {
    return this.parts.map(({ kind, text }) => (kind === 'output_text' ? text : '')).join('')
  }

  /**
   * Adds a source of the text: chat nests its fields under the type, and counts from the beginning
   * of the answer, of which `before` are in earlier messages.
   */
  annotate({ type, url_citation: citation }: JsonObject, before = 0): void {
    const part = this.parts.at(-1)
    if (part?.kind !== 'output_text' || type !== 'url_citation' || !isObject(citation)) return
    const annotation = { type, ...citation, ...moveSpan(citation, before) }
    const index = part.annotations.push(annotation) - 1
    const members = `,"annotation_index":${index},"annotation":${writeJson(annotation)}`
    this.emit('response.output_text.annotation.added', members)
  }

  close(status: ItemStatus): void {
    this.closePart()
    emitDone(this.place, this.build(status))
  }

  build(status: ItemStatus): JsonObject {
    const content = this.parts.map(buildPart)
    return { id: this.place.id, type: 'message', status, role: 'assistant', content }
  }

  private openPart(kind: PartKind): Part {
    const part: Part = { kind, annotations: [], text: '' }
    this.parts.push(part)
    this.emit('response.content_part.added', `,"part":${writeJson(buildPart(part))}`)
    return part
  }

  private closePart(): void {
    const part = this.parts.at(-1)
    if (!part) return
    const text = JSON.stringify(part.text)
    const done = part.kind === 'refusal' ? `,"refusal":${text}` : `,"text":${text},"logprobs":[]`
    this.emit(`response.${part.kind}.done`, done)
    this.emit('response.content_part.done', `,"part":${writeJson(buildPart(part))}`)
  }

  private emit(type: string, members: string): void {
    const at = `${placeMembers(this.place)},"content_index":${this.parts.length - 1}`
    this.place.emit(type, at + members)
  }
}

function moveSpan({ start_index: start, end_index: end }: JsonObject, before: number): JsonObject {
  if (typeof start !== 'number' || typeof end !== 'number' || start < before) return {}
  return { start_index: start - before, end_index: end - before }
}

function buildPart({ kind, annotations, text }: Part): JsonObject {
  if (kind === 'refusal') return { type: kind, refusal: text }
  return { type: kind, text, annotations: [...annotations], logprobs: [] }
}

/** The model's reasoning, sent as a summary, which clients show and send back. */
export class ReasoningItem implements OutputItem {
  private readonly place: ItemPlace
  private sealed: string | undefined
  /** Empty if the vendor shows none of it. */
  text = ''

  constructor(place: ItemPlace) {
    this.place = place
    emitAdded(place, { id: place.id, type: 'reasoning', summary: [] })
  }

  /** True once the vendor's signature is in: nothing can be added. */
  get isSealed(): boolean {
    return this.sealed !== undefined
  }

  add(text: string): void {
    if (this.text === '') {
      this.emit('response.reasoning_summary_part.added', `"part":${JSON.stringify(this.part())}`)
    }
    this.text += text
    this.emit('response.reasoning_summary_text.delta', `"delta":${JSON.stringify(text)}`)
  }

  seal(reasoning: SignedThinking): void {
    this.sealed = sealReasoning(reasoning)
  }

  close(): void {
    if (this.text !== '') {
      this.emit('response.reasoning_summary_text.done', `"text":${JSON.stringify(this.text)}`)
      this.emit('response.reasoning_summary_part.done', `"part":${JSON.stringify(this.part())}`)
    }
    emitDone(this.place, this.build())
  }

  build(): JsonObject {
    const summary = this.text === '' ? [] : [this.part()]
    const sealed = this.sealed === undefined ? {} : { encrypted_content: this.sealed }
    return { id: this.place.id, type: 'reasoning', summary, ...sealed }
  }

  private part(): JsonObject {
    return { type: 'summary_text', text: this.text }
  }

  private emit(type: string, members: string): void {
    this.place.emit(type, `${placeMembers(this.place)},"summary_index":0,${members}`)
  }
}
