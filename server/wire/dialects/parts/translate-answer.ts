/**
 * Translates an answer: a reader makes parts of it, a writer an answer of the caller's dialect. The
 * first byte decides whether a document or a stream arrives, whatever the headers state and
 * whichever was requested. An ending that the upstream did not send is never invented.
 */
import { tryParseExact } from '../../../base/lib/exact-numbers.ts'
import { beginsDocument } from '../begins-document.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { ANSWER_EVENT_BYTES_MAX, createSseParser, type SseEvent } from '../sse.ts'
import type { BodyReading } from '../tap.ts'
import { NO_PARTS, type Part, type PartReader, type PartWriter } from './part.ts'

/**
 * `form` is the form that the writer writes. A whole answer is written at the end or not at all.
 */
export function translateAnswer(
  reader: PartReader,
  writer: PartWriter,
  form: 'stream' | 'whole',
): Relay {
  return new AnswerTranslator(reader, writer, form === 'whole')
}

class AnswerTranslator implements Relay {
  private readonly reader: PartReader
  private readonly writer: PartWriter
  private readonly isWhole: boolean
  /** Absent until a stream arrives. */
  private parser: ReturnType<typeof createSseParser> | undefined
  /** True if a document arrives; undefined before its first byte. */
  private isDocument: boolean | undefined
  private readonly chunks: Buffer[] = []
  private chunkBytes = 0
  /** The statements of the document. */
  private document: BodyReading | undefined
  private hasBegun = false
  private reason: string | undefined
  private stopSequence: string | undefined
  private outputBytes = 0
  private outputEvents = 0
  /** True after the ending, or at the end of a body that stated a finish reason. */
  private finished = false
  private error: ReportedError | undefined
  /** True once no more output goes to the caller. */
  private isOver = false

  constructor(reader: PartReader, writer: PartWriter, isWhole: boolean) {
    this.reader = reader
    this.writer = writer
    this.isWhole = isWhole
  }

  push(chunk: Buffer): Buffer | undefined {
    this.isDocument ??= beginsDocument(chunk)
    if (!this.isDocument) {
      this.parser ??= createSseParser({
        limitBytes: ANSWER_EVENT_BYTES_MAX,
        onEvent: (event) => this.onEvent(event),
        onOverflow: () => this.onError(UPSTREAM_ERROR),
      })
      this.parser.push(chunk)
      return this.isWhole ? undefined : this.take()
    }
    this.chunks.push(chunk)
    this.chunkBytes += chunk.length
    return undefined
  }

  end(): Buffer | undefined {
    if (this.isDocument) this.readDocument()
    else this.parser?.end()
    if (!this.isOver && this.reason !== undefined) this.finish()
    else if (this.hasBegun && !this.isWhole) this.breakOff(UPSTREAM_ERROR)
    else this.onError(UPSTREAM_ERROR)
    if (this.isWhole) this.finished = true
    return this.take()
  }

  fail({ type, message }: RelayFailure): Buffer | undefined {
    if (this.isWhole) return undefined
    this.breakOff({ type, message })
    return this.take()
  }

  heldBytes(): number {
    return this.chunkBytes + (this.parser?.heldBytes() ?? 0) + this.writer.heldBytes()
  }

  report(): RelayReport {
    const { document, outputEvents, finished, error } = this
    const isLost = this.isWhole && error !== undefined && !this.reader.countsBroken
    const outputBytes = isLost ? 0 : this.outputBytes
    const reading = document ?? { ...this.reader.reading(), outputBytes, outputEvents }
    return { ...reading, finished, ...(error ? { error } : {}) }
  }

  private readDocument(): void {
    const { reading, parts } = this.reader.whole(tryParseExact(Buffer.concat(this.chunks)))
    this.document = reading
    this.addAll(parts)
  }

  private onEvent(event: SseEvent): void {
    if (this.isOver) this.reader.late(event)
    else this.addAll(this.reader.event(event))
  }

  private addAll(parts: readonly Part[]): void {
    const { outputBytes } = this
    for (const part of parts) this.add(part)
    if (this.outputBytes > outputBytes) this.outputEvents += 1
    if (!this.isWhole && this.writer.isOverfull()) this.onError(UPSTREAM_ERROR)
  }

  private add(part: Part): void {
    switch (part.kind) {
      case 'reason':
        this.reason = part.reason ?? this.reason
        this.stopSequence = part.stopSequence ?? this.stopSequence
        return
      case 'done':
        this.finish()
        return
      case 'error':
        this.onError(part.error)
        return
      case 'begin':
        this.hasBegun = true
    }
    if (!this.document) this.outputBytes += countBytes(part)
    this.writer.add(part)
  }

  private finish(): void {
    // Without a beginning and a finish reason, none of it was an answer.
    if (!this.hasBegun && this.reason === undefined) {
      this.onError(UPSTREAM_ERROR)
      return
    }
    const { reader, document, reason, stopSequence } = this
    for (const part of reader.last?.() ?? NO_PARTS) this.add(part)
    this.writer.finish({
      reason,
      stopSequence,
      reading: document ?? reader.reading(),
      reasoningTokens: reader.reasoningTokens(),
      outputBytes: document?.outputBytes ?? this.outputBytes,
    })
    this.finished = true
    this.isOver = true
  }

  /** Handles an upstream's error, or output beyond the limit of the translation. */
  private onError(error: ReportedError): void {
    if (this.isOver) return
    this.error = error
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

/** UTF-8 bytes that the model wrote: the basis of an estimate without usage. */
export function countBytes(part: Part): number {
  switch (part.kind) {
    case 'refusal':
      return part.isNotice ? 0 : Buffer.byteLength(part.text)
    case 'text':
    case 'reasoning':
      return Buffer.byteLength(part.text)
    case 'call':
      return Buffer.byteLength(part.arguments)
    default:
      return 0
  }
}
