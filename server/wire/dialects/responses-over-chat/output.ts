/**
 * Collects the output of a response. Text and reasoning form items one after the other, in the
 * order of their first appearance; calls stay open beside them until their arguments are whole,
 * because upstreams interleave parallel calls.
 */
import type { JsonObject } from '../../../base/lib/json.ts'
import { countCodePoints } from '../../../base/lib/text/count-code-points.ts'
import { markSignature } from '../contents/signature.ts'
import type { CallPart, ContentPart, ImagePart, PartCall, SearchPart } from '../parts/part.ts'
import { CALL_ID_PREFIXES, type CallItem, openCall } from './call-item.ts'
import {
  type EventSink,
  emitAdded,
  emitDone,
  type ItemPlace,
  type ItemStatus,
  MessageItem,
  type OutputItem,
  type PartKind,
  placeMembers,
  ReasoningItem,
} from './output-item.ts'
import { SearchItem } from './search-item.ts'
import type { CallerTool, ToolMap } from './tool-map.ts'

/** Bytes of one answer that are held: the last event repeats them all. */
const OUTPUT_LIMIT_BYTES = 32 * 1024 * 1024

/** A call, whose item is opened once the call has a name. */
interface OpenCall {
  item: CallItem | undefined
  /** True if all arguments have arrived; a later piece of the same chunk may still bring some. */
  isComplete: boolean
  waiting: string
}

export interface OutputOptions {
  /** Makes the item ids unique: the response's own id. */
  readonly responseId: string
  readonly tools: ToolMap
  readonly sealsReasoning: boolean
  readonly showsSources: boolean
  readonly emit: EventSink
}

export class Output {
  private readonly options: OutputOptions
  private readonly items: OutputItem[] = []
  private readonly closed = new Map<OutputItem, JsonObject>()
  private readonly calls = new Map<PartCall, OpenCall>()
  /** Calls that may be closed before the next item begins. */
  private readonly complete = new Map<PartCall, OpenCall>()
  private speech: MessageItem | ReasoningItem | undefined
  /** Searches that have not ended, by the vendor's id. */
  private readonly searches = new Map<unknown, SearchItem>()
  /** Code points of the messages before the open one. */
  private pointsBefore = 0
  /** UTF-8 bytes of what the model wrote. */
  bytes = 0

  constructor(options: OutputOptions) {
    this.options = options
  }

  add(part: ContentPart): void {
    switch (part.kind) {
      case 'reasoning':
        this.bytes += Buffer.byteLength(part.text)
        this.openReasoning().add(part.text)
        return
      case 'signature':
        if (this.options.sealsReasoning) this.sign(part.signature)
        return
      case 'sealed':
        if (this.options.sealsReasoning) this.addSealed(part.data)
        return
      case 'search':
        this.addSearch(part)
        return
      case 'text':
        this.addText('output_text', part.text)
        return
      case 'refusal':
        this.addText('refusal', part.text)
        return
      case 'mark':
        if (this.options.sealsReasoning) this.sign(markSignature(part.signature))
        return
      case 'image':
        this.addImage(part)
        return
      case 'sources':
        for (const annotation of part.annotations) this.annotate(annotation)
        return
      case 'call':
        this.addCall(part)
    }
  }

  heldBytes(): number {
    return this.bytes
  }

  isOverfull(): boolean {
    return this.bytes > OUTPUT_LIMIT_BYTES
  }

  /** Closes every item. Calls that never got a name are emitted without one. */
  finish(status: ItemStatus): void {
    this.closeSpeech(status)
    for (const search of this.searches.values()) this.close(search, status)
    for (const [call, open] of this.calls) {
      this.closeCall(call, open, open.isComplete ? 'completed' : status)
    }
  }

  /** All items so far, in the order of their indexes. */
  build(): JsonObject[] {
    return this.items.map((item) => this.closed.get(item) ?? item.build('incomplete'))
  }

  /** Returns the open item of reasoning, or a new one if it is whole. */
  private openReasoning(): ReasoningItem {
    if (this.speech instanceof ReasoningItem && !this.speech.isSealed) return this.speech
    this.closeBefore()
    const item = this.open(new ReasoningItem(this.nextPlace('rs')))
    this.speech = item
    return item
  }

  private sign(signature: string): void {
    const item = this.openReasoning()
    item.seal({ thinking: item.text, signature })
  }

  private addSealed(data: string): void {
    this.closeSpeech('completed')
    this.openReasoning().seal({ data })
  }

  /** Adds a source to the open text; without a text, the source is dropped. */
  private annotate(annotation: JsonObject): void {
    if (this.speech instanceof MessageItem) this.speech.annotate(annotation, this.pointsBefore)
  }

  /** Opens the item of a search, or closes it with the addresses that were found. */
  private addSearch({ id, query = '', status, urls }: SearchPart): void {
    const known = this.searches.get(id)
    if (!known) this.closeBefore()
    const item = known ?? this.open(new SearchItem(this.nextPlace('ws'), query))
    this.searches.set(id, item)
    if (status === undefined) return
    this.searches.delete(id)
    item.end(status === 'completed', this.options.showsSources ? urls : undefined)
    this.close(item, 'completed')
  }

  private addText(kind: PartKind, text: string): void {
    this.bytes += Buffer.byteLength(text)
    if (!(this.speech instanceof MessageItem)) {
      this.closeBefore()
      this.speech = this.open(new MessageItem(this.nextPlace('msg')))
    }
    this.speech.add(kind, text)
  }

  private addImage({ data, media, signature }: ImagePart): void {
    this.bytes += data.length
    if (signature) this.sign(markSignature(signature))
    this.closeBefore()
    this.close(this.open(new ImageItem(this.nextPlace('ig'), media, data)), 'completed')
  }

  private addCall({ call, arguments: text, isComplete, signature }: CallPart): void {
    this.bytes += Buffer.byteLength(text)
    if (signature) this.sign(markSignature(signature))
    const known = this.calls.get(call)
    if (known?.item && this.closed.has(known.item)) return
    const open = known ?? { item: undefined, isComplete, waiting: '' }
    if (!known) this.calls.set(call, open)
    open.isComplete = isComplete
    open.waiting += text
    if (!open.item && call.name === '') return
    open.item ??= this.openCallItem(call)
    open.item.add(open.waiting)
    open.waiting = ''
    if (isComplete) this.complete.set(call, open)
    else this.complete.delete(call)
  }

  private openCallItem(call: PartCall): CallItem {
    this.closeBefore()
    const { responseId, tools } = this.options
    const tool = call.name === '' ? UNKNOWN : tools.fromChat(call.name)
    const callId = call.id || `call_${suffix(responseId)}_${call.position}`
    return this.open(openCall(this.nextPlace(CALL_ID_PREFIXES[tool.kind]), tool, callId))
  }

  /** Complete items end before the next item begins. */
  private closeBefore(): void {
    this.closeSpeech('completed')
    for (const [call, open] of this.complete) this.closeCall(call, open, 'completed')
    this.complete.clear()
  }

  private closeSpeech(status: ItemStatus): void {
    if (this.speech instanceof MessageItem) this.pointsBefore += countCodePoints(this.speech.text)
    if (this.speech) this.close(this.speech, status)
    this.speech = undefined
  }

  private closeCall(call: PartCall, open: OpenCall, status: ItemStatus): void {
    if (!open.item) {
      open.item = this.openCallItem(call)
      open.item.add(open.waiting)
    }
    if (!this.closed.has(open.item)) this.close(open.item, status)
  }

  private open<Item extends OutputItem>(item: Item): Item {
    this.items.push(item)
    return item
  }

  private close(item: OutputItem, status: ItemStatus): void {
    item.close(status)
    this.closed.set(item, item.build(status))
  }

  private nextPlace(prefix: string): ItemPlace {
    const { responseId, emit } = this.options
    const index = this.items.length
    return { id: `${prefix}_${suffix(responseId)}_${index}`, index, emit }
  }
}

const UNKNOWN: CallerTool = { kind: 'function', name: 'unknown' }

function suffix(responseId: string): string {
  return responseId.replace(/^resp_/, '')
}

class ImageItem implements OutputItem {
  private readonly place: ItemPlace
  private readonly format: string
  private readonly data: string

  /** `media` is for example `image/png`, `data` base64. */
  constructor(place: ItemPlace, media: string, data: string) {
    this.place = place
    this.format = media.slice(media.indexOf('/') + 1)
    this.data = data
    emitAdded(place, this.write('in_progress', null))
  }

  close(): void {
    this.place.emit('response.image_generation_call.completed', placeMembers(this.place))
    emitDone(this.place, this.build('completed'))
  }

  build(status: ItemStatus): JsonObject {
    return this.write(status, this.data)
  }

  private write(status: string, result: string | null): JsonObject {
    const { id } = this.place
    return { id, type: 'image_generation_call', status, result, output_format: this.format }
  }
}
