/**
 * Relays a messages stream to a caller of the same dialect: bytes pass unchanged, except for
 * private details in errors and for events that the official SDKs could not read. The tap reads
 * usage, counts the output, and adds an `error` event to a stream that ends without `message_stop`.
 */
import { asString, type JsonObject, member } from '../../../base/lib/json.ts'
import { createFrameFilter, type FrameFilter, isForeign } from '../frame-filter.ts'
import { createFrameTemplate, spellKeys } from '../frame-template.ts'
import { hideInFrame } from '../hide-error.ts'
import { parseEventData } from '../parse-event-data.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { readSseFrame, type SseEvent } from '../sse.ts'
import { encodeMessagesError } from './error.ts'
import { readMessagesError } from './read-error.ts'
import {
  createMessagesUsageReader,
  type MessagesUsageOptions,
  type MessagesUsageReader,
} from './read-usage.ts'
import { repairEvent, UNNAMED } from './repair.ts'

const DELTA_FIELDS = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['input_json_delta', 'partial_json'],
])

export interface MessagesTapOptions extends MessagesUsageOptions {
  /** Returns the input tokens for callers of a vendor that states none. */
  readonly estimateInputTokens?: () => number
}

/** `finished` is true after `message_stop`. */
export function createMessagesTap(options: MessagesTapOptions = {}): Relay {
  return new MessagesTap(options)
}

const TEXT_KEYS = spellKeys('text', 'partial_json', 'thinking')
/** Pings, endings and events of other dialects do not begin an answer. */
const BEGINNINGS = new Set<unknown>([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'message_delta',
])

class MessagesTap implements Relay {
  private readonly filter: FrameFilter
  private readonly template = createFrameTemplate(TEXT_KEYS, (bytes) => this.addOutput(bytes))
  private readonly usage: MessagesUsageReader
  private readonly options: MessagesTapOptions
  private outputBytes = 0
  private outputEvents = 0
  /** True once an event of an answer arrived: before it, others do not begin the stream. */
  private hasBegun = false
  private finished = false
  /** True after an event could not be read: further events are only read for their usage. */
  private isBrokenOff = false
  private error: ReportedError | undefined

  constructor(options: MessagesTapOptions) {
    this.options = options
    this.usage = createMessagesUsageReader(options)
    this.filter = createFrameFilter({
      onFrame: (frame) => this.onFrame(frame),
      skip: (bytes, start) => this.skip(bytes, start),
      // Content that was not read cannot be counted as output.
      onOverflow: () => {},
    })
  }

  push(chunk: Buffer): Buffer | undefined {
    return this.filter.push(chunk)
  }

  end(): Buffer | undefined {
    const rest = this.filter.end()
    if (this.finished || this.error) return rest
    if (!this.hasBegun) this.error = UPSTREAM_ERROR
    const ending = Buffer.from(encodeMessagesError(UPSTREAM_ERROR))
    return rest ? Buffer.concat([rest, ending]) : ending
  }

  fail({ type, message }: RelayFailure): Buffer | undefined {
    if (this.finished || this.error) return undefined
    const close = this.filter.isInsideEvent() ? '\n\n' : ''
    return Buffer.from(close + encodeMessagesError({ type, message }))
  }

  heldBytes(): number {
    return this.filter.heldBytes()
  }

  report(): RelayReport {
    const { outputBytes, outputEvents, finished, error } = this
    const reading = this.usage.reading()
    return { ...reading, outputBytes, outputEvents, finished, ...(error ? { error } : {}) }
  }

  private skip(bytes: Buffer, start: number): number {
    return this.isBrokenOff ? start : this.template.skip(bytes, start)
  }

  private onFrame(frame: Buffer): Buffer | undefined {
    // One that has come in pieces.
    return this.skip(frame, 0) > 0 ? frame : this.onOther(frame)
  }

  private onOther(frame: Buffer): Buffer | undefined {
    const event = readSseFrame(frame)
    if (!event) return isForeign(frame) ? undefined : frame
    const data = parseEventData(event)
    if (!data) return this.onUnreadable(event, frame)
    if (this.isBrokenOff) {
      if (data.type === 'message_delta') this.usage.delta(data)
      else this.usage.other(data)
      return undefined
    }
    this.hasBegun ||= BEGINNINGS.has(data.type)
    const error = readMessagesError(data)
    if (!this.hasBegun && !error) return undefined
    const repaired = error ? undefined : this.repair(event, data)
    this.onEvent(data, repaired ? undefined : frame)
    return error ? hideInFrame(frame) : (repaired ?? frame)
  }

  /**
   * Ends the stream at a partial event: the SDKs cannot read it, and its content is missing. They
   * ignore other data that is not an object only if the event has no name.
   */
  private onUnreadable({ event, data }: SseEvent, frame: Buffer): Buffer | undefined {
    // Half an event at a sudden end would hide the error event that follows it.
    if (!this.hasBegun || this.isBrokenOff || !isWhole(frame)) return undefined
    if (!data.trimStart().startsWith('{')) return event === UNNAMED ? frame : undefined
    if (this.finished || this.error) return undefined
    this.isBrokenOff = true
    this.error = UPSTREAM_ERROR
    return Buffer.from(encodeMessagesError(UPSTREAM_ERROR))
  }

  private repair(event: SseEvent, data: JsonObject): Buffer | undefined {
    const inputTokensEstimate = this.options.estimateInputTokens?.() ?? 0
    return repairEvent(event, data, { inputTokensEstimate, outputBytes: this.outputBytes })
  }

  /** `frame` is absent if it was repaired, since similar frames must be repaired too. */
  private onEvent(data: JsonObject, frame: Buffer | undefined): void {
    switch (data.type) {
      case 'content_block_delta':
        this.onDelta(data, frame)
        return
      case 'message_start':
        this.usage.start(data.message)
        return
      case 'content_block_start':
        this.usage.block(data.content_block)
        return
      case 'message_delta':
        this.usage.delta(data)
        return
      case 'message_stop':
        this.usage.other(data)
        this.finished = true
        return
      default: {
        const error = readMessagesError(data)
        if (!error) return
        this.usage.other(data)
        this.error ??= error
      }
    }
  }

  private onDelta(data: JsonObject, frame: Buffer | undefined): void {
    const text = readDeltaText(data)
    this.addOutput(Buffer.byteLength(text))
    if (frame && text !== '') this.template.learn(frame, text)
  }

  private addOutput(bytes: number): void {
    if (bytes === 0) return
    this.outputBytes += bytes
    this.outputEvents += 1
  }
}

/** Events end in an empty line; only the last of a body may lack it. */
function isWhole(frame: Buffer): boolean {
  return /[\r\n]{2}$/.test(frame.toString('latin1', Math.max(0, frame.length - 4)))
}

/** Returns the model's text in a `content_block_delta`; empty for signatures and citations. */
function readDeltaText(event: JsonObject): string {
  const field = DELTA_FIELDS.get(asString(member(event.delta, 'type')) ?? '')
  return field === undefined ? '' : (asString(member(event.delta, field)) ?? '')
}
