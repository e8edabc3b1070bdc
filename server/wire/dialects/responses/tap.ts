/**
 * Relays a Responses stream to a caller of the same dialect. Whole events pass as their original
 * bytes; the last one states usage. A stream without its last event gets one, because clients
 * that see none repeat the request and hide the reason.
 */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { ChatUsageOptions } from '../chat/read-usage.ts'
import { createFrameFilter, type FrameFilter, isForeign } from '../frame-filter.ts'
import { hideInFrame } from '../hide-error.ts'
import { createLargeObjectReader, type LargeObjectReader } from '../large-object.ts'
import { judgeEvent } from '../parse-event-data.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { encodeFailedEvent } from './encode-failed.ts'
import {
  countDeltaBytes,
  NamedEvents,
  readEventData,
  readEventType,
  readSequenceNumber,
} from './read-event.ts'
import { countItemBytes, readResponseError } from './read-response.ts'
import { createResponseUsageReader, type ResponseUsageReader } from './read-usage.ts'

/** Larger events pass without being held: the last one repeats the answer, with its images. */
const EVENT_LIMIT_BYTES = 8 * 1024 * 1024
/** Those of the event and of its response. */
const LARGE_LEVELS = 2

const STARTS = new Set(['response.created', 'response.queued', 'response.in_progress'])
/** Items of tools have types that end so. */
const CALL_TYPE = '_call"'
/** ARK's errors have no type. */
const ERRORS = new Set(['response.failed', 'error', ''])
const ITEM_BEGINS = 'response.output_item.added'
const ENDINGS = new Set(['response.completed', 'response.incomplete', 'response.failed'])

export interface ResponsesTapOptions {
  /**
   * The response is made in the background: a stream of it that breaks off has no ending. Output
   * counts from the events after this sequence number; those before were delivered already.
   */
  readonly backgroundAfter?: number
}

/** `finished` is true after the protocol's own last event, `response.failed` included. */
export function createResponsesTap(
  options: ChatUsageOptions = {},
  { backgroundAfter }: ResponsesTapOptions = {},
): Relay {
  return new ResponsesTap(options, backgroundAfter)
}

class ResponsesTap implements Relay {
  private readonly filter: FrameFilter
  private readonly named = new NamedEvents()
  /** The response object, which an appended end event must match. */
  private response: JsonObject | undefined
  /** The last event, for its sequence number. */
  private lastFrame: Buffer | undefined
  /** The upstream's body has ended: its last event may be half of one. */
  private hasEnded = false
  /** The event over the limit that is passing. */
  private large: { readonly type: string; readonly object: LargeObjectReader } | undefined
  private readonly usage: ResponseUsageReader
  private outputBytes = 0
  private outputEvents = 0
  private hasDeltas = false
  /** Of the last event whose output was counted; undefined where it does not matter. */
  private sequence: number | undefined
  private finished = false
  /** An event could not be read: what follows is read for its usage alone. */
  private isBrokenOff = false
  private error: ReportedError | undefined
  /** True once the gateway has written the last event in the upstream's place. */
  private isClosed: boolean

  constructor(options: ChatUsageOptions, backgroundAfter: number | undefined) {
    // A background response goes on: no ending is written in the upstream's place.
    this.isClosed = backgroundAfter !== undefined
    this.sequence = backgroundAfter
    this.usage = createResponseUsageReader(options)
    this.filter = createFrameFilter({
      onFrame: (frame) => this.onFrame(frame),
      onOverflow: (piece, isLast) => this.onOverflow(piece, isLast),
      limitBytes: EVENT_LIMIT_BYTES,
    })
  }

  push(chunk: Buffer): Buffer | undefined {
    return this.filter.push(chunk)
  }

  end(): Buffer | undefined {
    this.hasEnded = true
    const rest = this.filter.end()
    this.endLarge()
    // A body without any event is no answer.
    if (!this.lastFrame && !this.finished) this.error ??= UPSTREAM_ERROR
    const failed = this.takeFailed(this.error ?? UPSTREAM_ERROR)
    return rest && failed ? Buffer.concat([rest, failed]) : (failed ?? rest)
  }

  fail({ type, message }: RelayFailure): Buffer | undefined {
    const failed = this.takeFailed(this.error ?? { type, message })
    return failed && this.filter.isInsideEvent() ? Buffer.concat([BLANK_LINE, failed]) : failed
  }

  heldBytes(): number {
    return this.filter.heldBytes()
  }

  report(): RelayReport {
    const { outputBytes, outputEvents, finished, error, sequence } = this
    const id = this.response?.id
    return {
      ...this.usage.reading(),
      outputBytes,
      outputEvents,
      finished,
      ...(typeof id === 'string' ? { answerId: id } : {}),
      ...(sequence === undefined ? {} : { sequence }),
      ...(error ? { error } : {}),
    }
  }

  private onFrame(frame: Buffer): Buffer | undefined {
    const named = this.named.read(frame)
    // Half an event at a sudden end would hide the ending that follows it.
    const content = named === undefined ? judgeEvent(frame) : 'object'
    if (content === 'cut' || this.isBrokenOff) return this.onCut(frame)
    const type = named ?? readEventType(frame)
    if (this.finished && frame.includes('"usage"')) this.readLate(readEventData(frame))
    else if (!this.finished && !this.readFrame(type, frame)) return this.onCut(frame)
    // Also the end of another dialect, which some vendors add behind the last event.
    if (content === 'noise') return undefined
    if (!ERRORS.has(type)) return frame
    return isForeign(frame) ? undefined : hideInFrame(frame)
  }

  /** Ends the stream at a part of an event: the SDKs cannot read it, and what it had is missing. */
  private onCut(frame: Buffer): Buffer | undefined {
    if (!this.isBrokenOff && (this.hasEnded || this.finished || this.isClosed)) return undefined
    this.isBrokenOff = true
    this.readLate(readEventData(frame))
    this.error ??= UPSTREAM_ERROR
    return this.takeFailed(this.error)
  }

  /** Reads usage that follows the last event: the last statement counts. */
  private readLate(data: JsonObject | undefined): void {
    const response = data?.response ?? data
    if (isObject(response)) this.usage.read(response)
  }

  /** Returns false for an ending that is no object: clients would miss it and ask again. */
  private readFrame(type: string, frame: Buffer): boolean {
    const ending = ENDINGS.has(type) ? readEventData(frame) : undefined
    if (ENDINGS.has(type) && ending === undefined) return false
    if (type !== '') this.lastFrame = frame
    if (type.endsWith('.delta')) this.onDelta(frame)
    else if (ending) this.onEnding(type, ending)
    else if (STARTS.has(type)) this.onStart(frame)
    else if (type === ITEM_BEGINS) this.usage.beginItem(readEventData(frame)?.item)
    else if (type === 'response.output_item.done') this.onItem(frame)
    else if (type === 'error' || type === '') this.onError(frame)
    return true
  }

  /** Reads the small members of a large event as it passes; its beginning has the type. */
  private onOverflow(piece: Buffer, isLast: boolean): void {
    this.large ??= { type: readEventType(piece), object: createLargeObjectReader(LARGE_LEVELS) }
    const event = this.large.object.push(piece)
    if (event) this.onLarge(asString(event.type) ?? this.large.type, event)
    if (isLast) this.endLarge()
  }

  private onLarge(type: string, event: JsonObject): void {
    if (this.finished) this.readLate(event)
    else if (ENDINGS.has(type)) this.onEnding(type, event)
    else if (type === 'response.output_item.done') {
      this.usage.readItem(event.item, event.output_index)
    }
  }

  /** Handles the end of a large event; an ending that is no object still ends the stream. */
  private endLarge(): void {
    const type = this.large?.type ?? ''
    this.large = undefined
    if (!this.finished && ENDINGS.has(type)) this.onEnding(type, undefined)
  }

  /** Keeps the response without the request that it repeats. */
  private onStart(frame: Buffer): void {
    const response = readEventData(frame)?.response
    if (!isObject(response)) return
    this.usage.read(response)
    this.keepName(response)
  }

  private keepName({ id, object, created_at, model }: JsonObject): void {
    this.response = { id, object, created_at, model }
  }

  private onDelta(frame: Buffer): void {
    this.hasDeltas = true
    if (this.isNew(frame)) this.addOutput(countDeltaBytes(frame))
  }

  private isNew(frame: Buffer): boolean {
    if (this.sequence === undefined) return true
    const number = readSequenceNumber(frame)
    if (number === undefined) return true
    if (number <= this.sequence) return false
    this.sequence = number
    return true
  }

  /** Reads a finished item; vendors without deltas send the whole output here. */
  private onItem(frame: Buffer): void {
    const isTool = frame.includes(CALL_TYPE)
    if (this.hasDeltas && !isTool) return
    const data = readEventData(frame)
    if (!this.hasDeltas && this.isNew(frame)) this.addOutput(countItemBytes(data?.item))
    if (isTool) this.usage.readItem(data?.item, data?.output_index)
  }

  private addOutput(bytes: number): void {
    if (bytes === 0) return
    this.outputBytes += bytes
    this.outputEvents += 1
  }

  private onEnding(type: string, data: JsonObject | undefined): void {
    const response = data?.response
    this.finished = true
    if (isObject(data?.usage)) this.usage.read(data)
    if (!this.response && isObject(response)) this.keepName(response)
    if (isObject(response)) this.usage.read(response)
    if (type === 'response.failed') {
      this.error = readResponseError(member(response, 'error')) ?? UPSTREAM_ERROR
    }
  }

  /** `event: error`, typed or flat, or data that holds nothing but an error (ARK). */
  private onError(frame: Buffer): void {
    const data = readEventData(frame)
    if (data === undefined) return
    this.usage.read(data)
    const nested = readResponseError(data.error)
    this.error = nested ?? (data.type === 'error' ? readResponseError(data) : this.error)
  }

  /** Returns the missing last event; undefined if the upstream has sent one. */
  private takeFailed(error: ReportedError): Buffer | undefined {
    if (this.finished || this.isClosed) return undefined
    this.isClosed = true
    const last = this.lastFrame && readEventData(this.lastFrame)?.sequence_number
    const sequenceNumber = typeof last === 'number' ? last + 1 : 0
    const { response } = this
    return Buffer.from(encodeFailedEvent({ error, response, sequenceNumber }))
  }
}

const BLANK_LINE = Buffer.from('\n\n')
