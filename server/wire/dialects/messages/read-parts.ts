/** Reads an answer of the messages format, a stream or a whole message, as parts. */
import {
  asString,
  isObject,
  type JsonObject,
  member,
  tryParseJson,
  writeJson,
} from '../../../base/lib/json.ts'
import { countCodePoints } from '../../../base/lib/text/count-code-points.ts'
import { createJsonDepth, type JsonDepth } from '../chat/json-depth.ts'
import { parseEventData } from '../parse-event-data.ts'
import {
  BEGIN,
  type CallPart,
  DONE,
  NO_PARTS,
  type Part,
  type PartCall,
  type PartReader,
  type SearchPart,
} from '../parts/part.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import type { SseEvent } from '../sse.ts'
import { readCount } from '../usage/read-count.ts'
import type { UsageReading } from '../usage/usage-reading.ts'
import { readMessagesBody } from './read-body.ts'
import { readMessagesError } from './read-error.ts'
import {
  createMessagesUsageReader,
  type MessagesUsageOptions,
  type MessagesUsageReader,
} from './read-usage.ts'

/**
 * The order of a whole message, as in chat; blocks that are not named, such as reasoning, come
 * first.
 */
const ORDER: readonly string[] = ['search', 'text', 'sources', 'call']

/** A call whose block is open. */
interface OpenCall {
  readonly call: PartCall
  readonly depth: JsonDepth
  /** The initial input of the block; clients only read argument deltas. */
  readonly input: unknown
  hasArguments: boolean
}

export class MessagesReader implements PartReader {
  readonly countsBroken = true
  private readonly options: MessagesUsageOptions | undefined
  private readonly usage: MessagesUsageReader
  /** Calls by block index: a proxy may open the next block before it closes the previous one. */
  private readonly calls = new Map<unknown, OpenCall>()
  private readonly callIds = new Set<string>()
  private callCount = 0
  /** Signatures of open thinking blocks, by index. */
  private readonly signatures = new Map<unknown, string>()
  private readonly citations = new Citations()
  private readonly searches = new SearchReader()
  private hasBegun = false
  private wholeUsage: unknown

  constructor(options?: MessagesUsageOptions) {
    this.options = options
    this.usage = createMessagesUsageReader(options)
  }

  event(event: SseEvent): readonly Part[] {
    const data = parseEventData(event)
    if (!data) return [{ kind: 'error', error: UPSTREAM_ERROR }]
    switch (data.type) {
      case 'message_start':
        this.usage.start(data.message)
        return this.begin()
      case 'content_block_start':
        this.usage.block(data.content_block)
        return [...this.begin(), ...this.startBlock(data.index, data.content_block)]
      case 'content_block_delta':
        return this.hasBegun ? this.readDelta(data) : [...this.begin(), ...this.readDelta(data)]
      case 'content_block_stop':
        return this.endBlock(data.index)
      case 'message_delta':
        this.usage.delta(data)
        return this.readEnding(data.delta)
      case 'message_stop':
        this.usage.other(data)
        return [...this.endText(), DONE]
      default: {
        const error = readMessagesError(data)
        if (!error) return NO_PARTS
        this.usage.other(data)
        return [{ kind: 'error', error }]
      }
    }
  }

  /** Usage stated after the end still counts. */
  late(event: SseEvent): void {
    const data = parseEventData(event)
    if (data?.type === 'message_delta') this.usage.delta(data)
    else if (data) this.usage.other(data)
  }

  whole(document: unknown) {
    const reading = readMessagesBody(document, this.options)
    if (reading.error || !isObject(document)) {
      return {
        reading,
        parts: [{ kind: 'error', error: reading.error ?? UPSTREAM_ERROR } as const],
      }
    }
    this.wholeUsage = document.usage
    const blocks: readonly unknown[] = Array.isArray(document.content) ? document.content : []
    const content: Part[] = []
    for (const [index, block] of blocks.entries()) {
      content.push(...this.startBlock(index, block), ...this.endBlock(index))
    }
    content.sort((left, right) => ORDER.indexOf(left.kind) - ORDER.indexOf(right.kind))
    return { reading, parts: [BEGIN, ...content, ...this.readEnding(document), DONE] }
  }

  reading(): UsageReading {
    return this.usage.reading()
  }

  reasoningTokens(): number | undefined {
    const details = member(this.wholeUsage, 'output_tokens_details')
    return readCount(member(details, 'thinking_tokens')) ?? this.usage.reasoning()
  }

  private begin(): readonly Part[] {
    if (this.hasBegun) return NO_PARTS
    this.hasBegun = true
    return [BEGIN]
  }

  private startBlock(index: unknown, block: unknown): readonly Part[] {
    if (!isObject(block)) return NO_PARTS
    const { type, text, thinking, signature, data } = block
    switch (type) {
      case 'text':
        this.citations.addAll(block.citations)
        return this.readText('text', asString(text) ?? '')
      case 'thinking':
        this.signatures.set(index, asString(signature) ?? '')
        return this.readText('reasoning', asString(thinking) ?? '')
      case 'redacted_thinking':
        return asString(data) ? [{ kind: 'sealed', data: asString(data) ?? '' }] : NO_PARTS
      case 'tool_use':
        return [this.openCall(index, block)]
      default: {
        const search = this.searches.startBlock(index, block)
        return search ? [search] : NO_PARTS
      }
    }
  }

  private openCall(index: unknown, { id, name, input }: JsonObject): CallPart {
    const callId = asString(id) ?? ''
    const call = {
      position: this.callCount,
      id: this.callIds.has(callId) ? '' : callId,
      name: asString(name) ?? '',
    }
    this.callIds.add(callId)
    this.callCount += 1
    this.calls.set(index, { call, depth: createJsonDepth(), input, hasArguments: false })
    return { kind: 'call', call, arguments: '', isComplete: false }
  }

  private readDelta({ index, delta }: JsonObject): readonly Part[] {
    if (!isObject(delta)) return NO_PARTS
    switch (delta.type) {
      case 'text_delta':
        return this.readText('text', asString(delta.text) ?? '')
      case 'thinking_delta':
        return this.readText('reasoning', asString(delta.thinking) ?? '')
      case 'citations_delta':
        this.citations.add(delta.citation)
        return NO_PARTS
      case 'signature_delta': {
        const known = this.signatures.get(index) ?? ''
        this.signatures.set(index, known + (asString(delta.signature) ?? ''))
        return NO_PARTS
      }
      case 'input_json_delta': {
        const text = asString(delta.partial_json) ?? ''
        this.searches.addArguments(index, text)
        return this.readArguments(this.calls.get(index), text)
      }
      default:
        return NO_PARTS
    }
  }

  private readText(kind: 'text' | 'reasoning', text: string): readonly Part[] {
    if (text === '') return NO_PARTS
    if (kind === 'text') this.citations.addText(text)
    return [{ kind, text }]
  }

  /** Drops arguments of a block that is not the caller's tool, such as a search by the vendor. */
  private readArguments(open: OpenCall | undefined, text: string): readonly Part[] {
    if (!open || text === '') return NO_PARTS
    open.hasArguments = true
    open.depth.feed(text)
    const isComplete = open.depth.isComplete()
    return [{ kind: 'call', call: open.call, arguments: text, isComplete }]
  }

  /** A call without arguments has them as an object at its start, most often an empty one. */
  private endBlock(index: unknown): readonly Part[] {
    const signature = this.signatures.get(index)
    this.signatures.delete(index)
    const search = this.searches.endBlock(index)
    const parts: Part[] = []
    if (signature) parts.push({ kind: 'signature', signature })
    if (search) parts.push(search)
    parts.push(...this.endText())
    const open = this.calls.get(index)
    this.calls.delete(index)
    if (!open || open.hasArguments) return parts
    const { input } = open
    // Some proxies send the input as JSON text.
    const text = asString(input) || writeJson(isObject(input) ? input : {})
    parts.push({ kind: 'call', call: open.call, arguments: text, isComplete: true })
    return parts
  }

  /** The sources of the block that ends. */
  private endText(): readonly Part[] {
    const annotations = this.citations.endBlock()
    return annotations.length > 0 ? [{ kind: 'sources', annotations }] : NO_PARTS
  }

  private readEnding(ending: unknown): readonly Part[] {
    const stopped = asString(member(ending, 'stop_reason'))
    if (stopped === undefined) return NO_PARTS
    const details = member(ending, 'stop_details')
    const refusal = stopped === 'refusal' ? asString(member(details, 'explanation')) : undefined
    return [
      ...this.endText(),
      ...(refusal ? [{ kind: 'refusal', text: refusal, isNotice: true } as const] : []),
      { kind: 'reason', reason: REASONS.get(stopped) ?? 'stop' },
    ]
  }
}

/** `end_turn`, `stop_sequence` and unknown reasons are a plain `stop`. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'length'],
  // A turn with many searches, which only callers of the messages format can continue, so it is
  // incomplete.
  ['pause_turn', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/**
 * Turns the sources that a vendor cites into annotations. A block of text is cited as a whole; an
 * annotation names the span of its code points in the text of all blocks.
 */
class Citations {
  private start = 0
  private text = ''
  /** Titles of the open block's sources, by address. */
  private readonly sources = new Map<string, string>()

  addText(text: string): void {
    this.text += text
  }

  /** Other citations refer to the caller's own documents, for which chat has no annotation. */
  add(citation: unknown): void {
    const url = asString(member(citation, 'url'))
    if (!url || member(citation, 'type') !== 'web_search_result_location') return
    this.sources.set(url, asString(member(citation, 'title')) || url)
  }

  addAll(citations: unknown): void {
    if (!Array.isArray(citations)) return
    for (const citation of citations) this.add(citation)
  }

  /** Ends the block. Returns an annotation for each of its sources. */
  endBlock(): JsonObject[] {
    const start = this.start
    const end = start + countCodePoints(this.text)
    const annotations = [...this.sources].map(([url, title]) => ({
      type: 'url_citation',
      url_citation: { start_index: start, end_index: end, url, title },
    }))
    this.start = end
    this.text = ''
    this.sources.clear()
    return annotations
  }
}

class SearchReader {
  /** Blocks of searches that are open, with their arguments, by index. */
  private readonly open = new Map<unknown, { readonly block: JsonObject; text: string }>()

  /** Returns the end of a search if the block is one. */
  startBlock(index: unknown, block: JsonObject): SearchPart | undefined {
    const { type, name, tool_use_id: id, content } = block
    if (type === 'server_tool_use' && name === 'web_search') {
      this.open.set(index, { block, text: '' })
    }
    if (type !== 'web_search_tool_result') return undefined
    if (!Array.isArray(content)) return { kind: 'search', id, status: 'failed', urls: [] }
    const urls = content.map((result) => asString(member(result, 'url')) ?? '').filter(Boolean)
    return { kind: 'search', id, status: 'completed', urls }
  }

  addArguments(index: unknown, text: string): void {
    const search = this.open.get(index)
    if (search) search.text += text
  }

  /** Returns the beginning of a search if the block that ends is one. */
  endBlock(index: unknown): SearchPart | undefined {
    const search = this.open.get(index)
    this.open.delete(index)
    if (!search) return undefined
    const { block, text } = search
    const input = text === '' ? block.input : tryParseJson(Buffer.from(text))
    return { kind: 'search', id: block.id, query: asString(member(input, 'query')) ?? '' }
  }
}
