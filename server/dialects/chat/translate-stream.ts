/**
 * Translates a chat stream to another dialect: this part reads it and detects its end, and the
 * dialect writes the output. An end that the upstream did not send is never invented.
 */
import type { JsonObject } from '../../lib/json.ts'
import { parseEventData } from '../parse-event-data.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { ANSWER_EVENT_BYTES_MAX, createSseParser, type SseEvent } from '../sse.ts'
import type { UsageReading } from '../usage/usage-reading.ts'
import { expectStream } from './expect-body.ts'
import { parseChunk } from './parse-chunk.ts'
import {
  type ChatDelta,
  hasChoice,
  isForeignEvent,
  readChatChunk,
  readFirstMessage,
} from './read-chunk.ts'
import { type ChatUsageOptions, type ChatUsageReader, createChatUsageReader } from './read-usage.ts'
import { createToolCallTracker } from './tool-calls.ts'

/** The state at the end of a stream. */
export interface ChatEnding {
  /** The finish reason; absent if only `[DONE]` arrived. */
  readonly reason: string | undefined
  readonly stopSequence: string | undefined
  readonly hasTools: boolean
  readonly reading: UsageReading
}

/** The events of the caller's dialect. Each method but the last two and `isOverfull` may write. */
export interface ChatStreamWriter {
  /** UTF-8 bytes of what the model wrote. */
  readonly outputBytes: number
  /** Adds the delta of one chunk; `document` is the chunk itself. */
  add(delta: ChatDelta, document: JsonObject): void
  /** True if more output is held back than allowed. */
  isOverfull(): boolean
  /** Writes the regular ending, after `[DONE]` or at the end of a body with a finish reason. */
  finish(ending: ChatEnding): void
  /** Writes the error that ends the stream; open parts stay open. */
  fail(error: ReportedError): void
  /** Returns the output written since the last call. */
  take(): string
  /** Bytes of the output that is kept until its ending, about. */
  heldBytes(): number
}

/** `finished` is true after `[DONE]`, or at the end of a body that gave a finish reason. */
export function createChatStreamTranslator(
  writer: ChatStreamWriter,
  options: ChatUsageOptions = {},
): Relay {
  return expectStream(new ChatStreamTranslator(writer, options))
}

class ChatStreamTranslator implements Relay {
  private readonly writer: ChatStreamWriter
  private readonly parser: ReturnType<typeof createSseParser>
  private readonly tools = createToolCallTracker()
  private reason: string | undefined
  private stopSequence: string | undefined
  private readonly usage: ChatUsageReader
  private outputEvents = 0
  /** True once a chunk had a choice: a stream without any is no answer. */
  private hasChoice = false
  private finished = false
  private error: ReportedError | undefined
  /** True once no more output goes to the caller. */
  private isOver = false

  constructor(writer: ChatStreamWriter, options: ChatUsageOptions) {
    this.writer = writer
    this.usage = createChatUsageReader(options)
    this.parser = createSseParser({
      limitBytes: ANSWER_EVENT_BYTES_MAX,
      onEvent: (event) => this.onEvent(event),
      onOverflow: () => this.onError(UPSTREAM_ERROR),
    })
  }

  push(chunk: Buffer): Buffer | undefined {
    this.parser.push(chunk)
    return this.take()
  }

  end(): Buffer | undefined {
    this.parser.end()
    if (!this.isOver && this.reason !== undefined) this.onDone()
    else if (this.hasChoice) this.breakOff(UPSTREAM_ERROR)
    else this.onError(UPSTREAM_ERROR)
    return this.take()
  }

  fail({ type, message }: RelayFailure): Buffer | undefined {
    this.breakOff({ type, message })
    return this.take()
  }

  heldBytes(): number {
    return this.parser.heldBytes() + this.writer.heldBytes()
  }

  report(): RelayReport {
    const { outputEvents, finished, error } = this
    const { outputBytes } = this.writer
    const reading = this.usage.reading()
    return { ...reading, outputBytes, outputEvents, finished, ...(error ? { error } : {}) }
  }

  private onEvent(event: SseEvent): void {
    if (this.isOver) {
      this.readUsageOf(event)
      return
    }
    const chunk = parseChunk(event)
    switch (chunk.kind) {
      case 'done':
        this.onDone()
        return
      case 'error':
        this.readUsageOf(event)
        this.onError(chunk.error)
        return
      case 'chunk':
        this.onChunk(chunk.document)
    }
  }

  /** An error, or an event after the end, may still contain usage. */
  private readUsageOf(event: SseEvent): void {
    const document = parseEventData(event)
    if (document) this.usage.read(document)
  }

  private onChunk(document: JsonObject): void {
    this.hasChoice ||= hasChoice(document)
    // Before the first choice nothing has begun, and an event of another dialect states no usage.
    if (!this.hasChoice) {
      if (!isForeignEvent(document)) this.usage.read(document)
      return
    }
    const delta = readChatChunk(document, this.tools)
    this.usage.read(document)
    this.usage.readMessage(readFirstMessage(document))
    this.reason = delta.reason ?? this.reason
    this.stopSequence = delta.stopSequence ?? this.stopSequence
    const { outputBytes } = this.writer
    this.writer.add(delta, document)
    if (this.writer.outputBytes > outputBytes) this.outputEvents += 1
    if (this.writer.isOverfull()) this.onError(UPSTREAM_ERROR)
  }

  private onDone(): void {
    if (!this.hasChoice) {
      this.onError(UPSTREAM_ERROR)
      return
    }
    const { reason, stopSequence } = this
    const hasTools = this.tools.calls.length > 0
    this.writer.finish({ reason, stopSequence, hasTools, reading: this.usage.reading() })
    this.finished = true
    this.isOver = true
  }

  /** Handles an upstream's error, or output beyond the limit of the translation. */
  private onError(error: ReportedError): void {
    if (!this.isOver) this.error = error
    this.breakOff(error)
  }

  private breakOff(error: ReportedError): void {
    if (this.isOver) return
    this.isOver = true
    this.writer.fail(error)
  }

  private take(): Buffer | undefined {
    const text = this.writer.take()
    return text === '' ? undefined : Buffer.from(text)
  }
}
