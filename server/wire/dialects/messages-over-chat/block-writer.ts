/**
 * Writes content blocks one after the other: contiguous indexes, each opened, filled and closed
 * before the next, one kind of content per block. The chat format promises none of that: its calls
 * may interleave, and a name may come after its arguments. Blocks are therefore queued in the order
 * in which they first appeared: the first is written as it arrives, and the others wait until it is
 * complete.
 */

import { tryParseExact } from '../../../base/lib/exact-numbers.ts'
import { isObject, type JsonObject, writeJson } from '../../../base/lib/json.ts'
import type { CallPart, ImagePart, PartCall } from '../parts/part.ts'
import { encodeSseEvent } from '../sse.ts'

type Block = TextBlock | ToolBlock | ImageBlock

interface TextBlock {
  readonly kind: 'text' | 'thinking'
  /** Content that is not written yet. */
  waiting: string
  /** Sources of a text that are not written yet. */
  readonly citations: JsonObject[]
  /** The signature of thinking, which ends the block. */
  signature: string
}

/** Written whole, at its start. */
interface ImageBlock {
  readonly kind: 'image'
  readonly source: JsonObject
  waiting: string
}

interface ToolBlock {
  readonly kind: 'tool'
  readonly call: PartCall
  /** True if all arguments have arrived; a later piece of the same chunk may still bring some. */
  isComplete: boolean
  /** True once nothing can be written to it. */
  isClosed: boolean
  waiting: string
}

/** The most characters that may wait; an upstream that interleaves more cannot be translated. */
const WAITING_LIMIT = 4 * 1024 * 1024
/** Blocks that may wait. */
const QUEUE_LIMIT = 10_000

export class BlockWriter {
  private readonly describeCall: (call: PartCall) => JsonObject
  private readonly isWhole: boolean
  /** The blocks from `first` on wait; those before are closed. */
  private queue: Block[] = []
  private first = 0
  private readonly tools = new Map<PartCall, ToolBlock>()
  private isOpen = false
  private index = 0
  private waitingLength = 0
  private events = ''

  /** `describeCall` returns the block of a call without its input. If whole, nothing is emitted. */
  constructor(describeCall: (call: PartCall) => JsonObject, isWhole: boolean) {
    this.describeCall = describeCall
    this.isWhole = isWhole
  }

  addText(kind: 'text' | 'thinking', text: string): void {
    if (text === '') return
    const last = this.queue.at(-1)
    if (last?.kind === kind && last.signature === '') this.fill(last, text)
    else this.enqueue(emptyText(kind), text)
  }

  /** Signs the thinking that came last, or an empty one. */
  sign(signature: string): void {
    const last = this.queue.at(-1)
    if (last?.kind === 'thinking' && last.signature === '') {
      last.signature = signature
      return
    }
    this.enqueue({ ...emptyText('thinking'), signature }, '')
  }

  addImage({ media, data }: ImagePart): void {
    const source = { type: 'base64', media_type: media, data }
    this.enqueue({ kind: 'image', source, waiting: '' }, '')
  }

  /** Adds a source to the last text; without a text, the source is dropped. */
  addCitation(citation: JsonObject): void {
    const last = this.queue.at(-1)
    if (last?.kind !== 'text') return
    last.citations.push(citation)
    this.waitingLength += writeJson(citation).length
    this.writeReady()
  }

  /** Drops arguments for a call whose block is closed. */
  addTool({ call, arguments: text, isComplete }: CallPart): void {
    const known = this.tools.get(call)
    if (known) {
      known.isComplete = isComplete
      if (!known.isClosed) this.fill(known, text)
      return
    }
    const block: ToolBlock = { kind: 'tool', call, isComplete, isClosed: false, waiting: '' }
    this.tools.set(call, block)
    this.enqueue(block, text)
  }

  /** Closes everything; calls that never got a name are written without one. */
  finish(): void {
    while (this.first < this.queue.length) this.writeFirst()
  }

  /** Returns the blocks of a whole message. */
  build(): JsonObject[] {
    return this.queue.map((block) => {
      const { waiting: text } = block
      if (block.kind === 'tool') return { ...this.head(block), input: parseInput(text) }
      if (block.kind === 'image') return this.head(block)
      if (block.kind === 'thinking') {
        return { ...this.head(block), thinking: text, signature: block.signature }
      }
      const { citations } = block
      return { ...this.head(block), text, ...(citations.length > 0 ? { citations } : {}) }
    })
  }

  heldBytes(): number {
    return this.waitingLength
  }

  isOverfull(): boolean {
    return this.waitingLength > WAITING_LIMIT || this.queue.length - this.first > QUEUE_LIMIT
  }

  /** Returns the events since the last call, as text. */
  take(): string {
    const { events } = this
    this.events = ''
    return events
  }

  private enqueue(block: Block, text: string): void {
    this.queue.push(block)
    this.fill(block, text)
  }

  private fill(block: Block, text: string): void {
    block.waiting += text
    this.waitingLength += text.length
    this.writeReady()
  }

  private writeReady(): void {
    while (!this.isWhole) {
      const first = this.queue[this.first]
      if (!first || (first.kind === 'tool' && first.call.name === '')) return
      this.writeWaiting(first)
      // A call's arguments may go on after another block began, until they are complete.
      const isComplete = first.kind !== 'tool' || first.isComplete
      if (this.first === this.queue.length - 1 || !isComplete) return
      this.close()
    }
  }

  private writeFirst(): void {
    const first = this.queue[this.first]
    if (first) this.writeWaiting(first)
    this.close()
  }

  private writeWaiting(block: Block): void {
    if (!this.isOpen) this.open(block)
    this.writeText(block)
    if (block.kind === 'text') this.writeCitations(block)
  }

  private writeText(block: Block): void {
    if (block.waiting === '' || block.kind === 'image') return
    const { index } = this
    const text = JSON.stringify(block.waiting)
    this.waitingLength -= block.waiting.length
    block.waiting = ''
    const delta = DELTAS[block.kind]
    this.write(
      'content_block_delta',
      `{"type":"content_block_delta","index":${index},"delta":${delta}${text}}}`,
    )
  }

  private writeCitations({ citations }: TextBlock): void {
    for (const citation of citations.splice(0)) {
      const { index } = this
      this.waitingLength -= writeJson(citation).length
      const delta = { type: 'citations_delta', citation }
      const event = { type: 'content_block_delta', index, delta }
      this.write('content_block_delta', writeJson(event))
    }
  }

  private open(block: Block): void {
    this.isOpen = true
    const start = {
      type: 'content_block_start',
      index: this.index,
      content_block: this.head(block),
    }
    this.write('content_block_start', writeJson(start))
  }

  /** Clients append to these fields, so each must be present, empty. */
  private head(block: Block): JsonObject {
    if (block.kind === 'thinking') return { type: 'thinking', thinking: '', signature: '' }
    if (block.kind === 'image') return { type: 'image', source: block.source }
    return block.kind === 'tool' ? this.describeCall(block.call) : { type: 'text', text: '' }
  }

  private close(): void {
    const closed = this.queue[this.first]
    if (closed?.kind === 'tool') closed.isClosed = true
    if (closed?.kind === 'thinking' && closed.signature !== '')
      this.writeSignature(closed.signature)
    this.first += 1
    if (this.first > this.queue.length / 2) {
      this.queue = this.queue.slice(this.first)
      this.first = 0
    }
    this.isOpen = false
    this.write('content_block_stop', `{"type":"content_block_stop","index":${this.index}}`)
    this.index += 1
  }

  private writeSignature(signature: string): void {
    const delta = { type: 'signature_delta', signature }
    const event = { type: 'content_block_delta', index: this.index, delta }
    this.write('content_block_delta', writeJson(event))
  }

  private write(event: string, data: string): void {
    this.events += encodeSseEvent(event, data)
  }
}

function emptyText(kind: TextBlock['kind']): TextBlock {
  return { kind, waiting: '', citations: [], signature: '' }
}

/** The beginning of a delta, up to its text: written by hand, once per token. */
const DELTAS = {
  text: '{"type":"text_delta","text":',
  thinking: '{"type":"thinking_delta","thinking":',
  tool: '{"type":"input_json_delta","partial_json":',
}

/**
 * Wraps arguments that are not a JSON object in one: the answer is billed, so nothing is dropped.
 */
function parseInput(text: string): JsonObject {
  if (text.trim() === '') return {}
  const input = tryParseExact(Buffer.from(text))
  return isObject(input) ? input : { raw_arguments: text }
}
