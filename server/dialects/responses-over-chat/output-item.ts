/**
 * The output items of generated text: messages and reasoning. Each item is a small state object
 * that emits its own events, from `added` to `done`.
 */

import type { JsonObject } from '../../lib/json.ts'
import { writeJson } from '../../lib/json.ts'
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

  close(status: ItemStatus): void {
    this.closePart()
    emitDone(this.place, this.build(status))
  }

  build(status: ItemStatus): JsonObject {
    const content = this.parts.map(buildPart)
    return { id: this.place.id, type: 'message', status, role: 'assistant', content }
  }

  private openPart(kind: PartKind): Part {
    const part = { kind, text: '' }
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

function buildPart({ kind, text }: Part): JsonObject {
  if (kind === 'refusal') return { type: kind, refusal: text }
  return { type: kind, text, annotations: [], logprobs: [] }
}

/** The model's reasoning, sent as a summary, which clients show and send back. */
export class ReasoningItem implements OutputItem {
  private readonly place: ItemPlace
  private text = ''
  private signature = ''

  constructor(place: ItemPlace) {
    this.place = place
    emitAdded(place, { id: place.id, type: 'reasoning', summary: [] })
    this.emit('response.reasoning_summary_part.added', `"part":${JSON.stringify(this.part())}`)
  }

  add(text: string): void {
    this.text += text
    this.emit('response.reasoning_summary_text.delta', `"delta":${JSON.stringify(text)}`)
  }

  /** Adds the vendor's signature, which arrives in pieces or whole. */
  sign(signature: string): void {
    this.signature += signature
  }

  close(): void {
    this.emit('response.reasoning_summary_text.done', `"text":${JSON.stringify(this.text)}`)
    this.emit('response.reasoning_summary_part.done', `"part":${JSON.stringify(this.part())}`)
    emitDone(this.place, this.build())
  }

  build(): JsonObject {
    const { text: thinking, signature } = this
    const sealed =
      signature === '' ? {} : { encrypted_content: sealReasoning({ thinking, signature }) }
    return { id: this.place.id, type: 'reasoning', summary: [this.part()], ...sealed }
  }

  private part(): JsonObject {
    return { type: 'summary_text', text: this.text }
  }

  private emit(type: string, members: string): void {
    this.place.emit(type, `${placeMembers(this.place)},"summary_index":0,${members}`)
  }
}
