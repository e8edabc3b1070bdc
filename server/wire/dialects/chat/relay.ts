/**
 * Relays a chat stream to a caller of the same dialect. Valid events pass as the original bytes;
 * only an event that would break an SDK is rewritten. The relay also reads usage, counts the
 * output, and ensures that the stream has an end.
 */
import { randomText } from '../../../base/lib/ids.ts'
import { isObject, type JsonObject, member, writeJson } from '../../../base/lib/json.ts'
import { createFrameFilter, type FrameFilter, isForeign, isLineEnd } from '../frame-filter.ts'
import { createFrameTemplate, spellKeys } from '../frame-template.ts'
import { hideInFrame } from '../hide-error.ts'
import { createLargeObjectReader, type LargeObjectReader } from '../large-object.ts'
import { parseEventData } from '../parse-event-data.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { encodeSseEvent, readSseFrame, type SseEvent } from '../sse.ts'
import { countMessageBytes } from './count-bytes.ts'
import { encodeChatError } from './error.ts'
import { expectStream } from './expect-body.ts'
import { parseChunk } from './parse-chunk.ts'
import { isForeignEvent } from './read-chunk.ts'
import { readReasoning } from './read-message.ts'
import { type ChatUsageOptions, type ChatUsageReader, createChatUsageReader } from './read-usage.ts'
import { createRepairState, type RepairState, repairChunk } from './repair-chunk.ts'
import { readArguments } from './tool-calls.ts'

export interface ChatRelayOptions {
  /** True if the caller requested the chunk that contains only usage. */
  readonly includeUsage: boolean
  /** True if the caller used `functions` and therefore expects `function_call`. */
  readonly legacyFunctions?: boolean
  /** Used if a chunk has no id; random when absent. */
  readonly id?: string
  /** Options for reading usage, from the request. */
  readonly usage?: ChatUsageOptions
}

const DONE = 'data: [DONE]\n\n'
/** No vendor makes more than 128 answers to a request, and each has a state of its own. */
const CHOICES_MAX = 1_024

/**
 * `finished` is true after `[DONE]`, or at the end of a body with a finish reason. A body that ends
 * without either gets an error event: no regular end is invented.
 */
export function createChatRelay(options: ChatRelayOptions): Relay {
  return expectStream(new ChatStream(options))
}

/** Only the chunk's own members are read from a large event. */
const OWN_MEMBERS = 1
const TEXT_KEYS = spellKeys('content', 'reasoning_content', 'reasoning', 'arguments')

class ChatStream implements Relay {
  private readonly includeUsage: boolean
  private readonly filter: FrameFilter
  private readonly template = createFrameTemplate(TEXT_KEYS, (bytes) => this.addOutput(bytes))
  private readonly repairs: RepairState
  private readonly usage: ChatUsageReader
  private outputBytes = 0
  private outputEvents = 0
  private hasReason = false
  /** True once a chunk had a choice: a stream without any is not an answer. */
  private hasChoice = false
  private done = false
  /** The event over the limit that is passing. */
  private large: LargeObjectReader | undefined
  private error: ReportedError | undefined

  constructor({ includeUsage, legacyFunctions = false, id, usage }: ChatRelayOptions) {
    this.includeUsage = includeUsage
    this.usage = createChatUsageReader(usage)
    this.repairs = createRepairState({ id: id ?? `chatcmpl-${randomText(22)}`, legacyFunctions })
    this.filter = createFrameFilter({
      onFrame: (frame) => this.onFrame(frame),
      skip: (bytes, start) => this.skip(bytes, start),
      onOverflow: (piece, isLast) => this.onOverflow(piece, isLast),
    })
  }

  push(chunk: Buffer): Buffer | undefined {
    return this.filter.push(chunk)
  }

  end(): Buffer | undefined {
    const rest = this.filter.end()
    if (this.done || this.error) return rest
    this.done = this.hasReason
    // A body without any chunk is not an answer.
    if (!this.hasChoice) this.error = UPSTREAM_ERROR
    const ending = Buffer.from(this.hasReason ? DONE : encodeChatError(UPSTREAM_ERROR))
    return rest ? Buffer.concat([rest, ending]) : ending
  }

  fail({ type, message }: RelayFailure): Buffer | undefined {
    if (this.done || this.error) return undefined
    const close = this.filter.isInsideEvent() ? '\n\n' : ''
    return Buffer.from(close + encodeChatError({ type, message }))
  }

  heldBytes(): number {
    return this.filter.heldBytes()
  }

  report(): RelayReport {
    const { outputBytes, outputEvents, done: finished, error } = this
    const reading = this.usage.reading()
    return { ...reading, outputBytes, outputEvents, finished, ...(error ? { error } : {}) }
  }

  /**
   * Reads the usage of a large event as it passes. Its content, for example an image, is not read,
   * and so not counted as output.
   */
  private onOverflow(piece: Buffer, isLast: boolean): void {
    this.large ??= createLargeObjectReader(OWN_MEMBERS)
    const chunk = this.large.push(piece)
    if (isLast) this.large = undefined
    if (!chunk) return
    this.hasChoice = true
    this.usage.read(chunk)
  }

  private skip(bytes: Buffer, start: number): number {
    return this.done || this.error ? start : this.template.skip(bytes, start)
  }

  private onFrame(frame: Buffer): Buffer | undefined {
    if (this.done || this.error) return this.onLate(frame)
    // One that has come in pieces.
    if (this.template.skip(frame, 0) > 0) return frame
    const event = readSseFrame(frame)
    if (!event) return isForeign(frame) ? undefined : frame
    const read = parseChunk(event)
    if (read.kind === 'chunk') return this.onChunk(read.document, frame)
    if (read.kind === 'done') return this.onDone(event.data, frame)
    this.readUsageOf(event)
    return this.onError(read.error, isReadableError(read.document) ? frame : undefined)
  }

  /** Drops events after the end, but reads their usage. */
  private onLate(frame: Buffer): Buffer | undefined {
    if (isLineEnd(frame)) return frame
    const event = readSseFrame(frame)
    if (event) this.readUsageOf(event)
    return undefined
  }

  private readUsageOf(event: SseEvent): void {
    const document = parseEventData(event)
    if (document) this.usage.read(document)
  }

  /** An upstream that ends without saying why has at least ended on purpose. */
  private onDone(data: string, frame: Buffer): Buffer {
    if (!this.hasChoice) return this.onError(UPSTREAM_ERROR, undefined)
    this.done = true
    const isExact = data === '[DONE]'
    if (this.hasReason) return isExact ? frame : Buffer.from(DONE)
    return Buffer.from(this.encodeMissingReason() + DONE)
  }

  /** Passes the upstream's error on unchanged if the SDKs can read it. */
  private onError(error: ReportedError, frame: Buffer | undefined): Buffer {
    this.error = error
    return frame ? hideInFrame(frame) : Buffer.from(encodeChatError(error))
  }

  private onChunk(chunk: JsonObject, frame: Buffer): Buffer | undefined {
    // An event of another dialect does not begin an answer.
    if (!this.hasChoice && isForeignEvent(chunk)) return undefined
    this.usage.read(chunk)
    const all = Array.isArray(chunk.choices) ? chunk.choices : []
    if (Math.max(all.length, this.repairs.choices.size) > CHOICES_MAX) {
      return this.onError(UPSTREAM_ERROR, undefined)
    }
    const choices = all.filter(isObject)
    this.hasChoice ||= choices.length > 0
    let bytes = 0
    for (const { delta, finish_reason: reason } of choices) {
      bytes += countMessageBytes(delta)
      this.usage.readMessage(delta)
      if (typeof reason === 'string' && reason !== '') this.hasReason = true
    }
    this.addOutput(bytes)
    const isOnlyUsage = choices.length === 0 && isObject(chunk.usage)
    if (isOnlyUsage && !this.includeUsage) return undefined
    const output = repairChunk(chunk, this.repairs)
    if (output !== chunk) return Buffer.from(encodeSseEvent(undefined, writeJson(output)))
    this.learn(chunk, choices, frame)
    return frame
  }

  private addOutput(bytes: number): void {
    if (bytes === 0) return
    this.outputBytes += bytes
    this.outputEvents += 1
  }

  /** Remembers a chunk that holds one piece of text and nothing else. */
  private learn(chunk: JsonObject, choices: readonly JsonObject[], frame: Buffer): void {
    const [choice] = choices
    if (choices.length !== 1 || !choice || choice.finish_reason || chunk.usage) return
    if (!isObject(choice.delta) || isObject(choice.usage)) return
    const text = readOnlyText(choice.delta)
    const isAll = Buffer.byteLength(text) === countMessageBytes(choice.delta)
    if (text !== '' && isAll) this.template.learn(frame, text)
  }

  private encodeMissingReason(): string {
    const calls = this.repairs.choices.get(0)?.tools.calls.length ?? 0
    const reason = calls > 0 ? 'tool_calls' : 'stop'
    const ending = { choices: [{ index: 0, delta: {}, finish_reason: reason }] }
    return encodeSseEvent(undefined, JSON.stringify(repairChunk(ending, this.repairs)))
  }
}

/**
 * Content, reasoning, or further arguments of a call that has begun; empty if there is none of
 * these.
 */
function readOnlyText(delta: JsonObject): string {
  const { content, tool_calls: calls } = delta
  if (typeof content === 'string' && content !== '') return content
  if (!Array.isArray(calls) || calls.length === 0) return readReasoning(delta)
  const functionCall = member(calls[0], 'function')
  const isOpening = member(calls[0], 'id') || member(functionCall, 'name')
  return calls.length > 1 || isOpening ? '' : readArguments(member(functionCall, 'arguments'))
}

/** Returns true if SDKs can read the error in the upstream's form. */
function isReadableError(document: JsonObject | undefined): boolean {
  return typeof member(document?.error, 'message') === 'string' && !document?.choices
}
