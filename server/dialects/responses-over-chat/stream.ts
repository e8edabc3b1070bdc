/**
 * A chat stream told as a Responses stream: created, in progress, items from `added` to `done`,
 * and exactly one last event. A body that breaks off ends in `response.failed`; an ending that
 * the upstream did not give is never made up.
 */
import type { JsonObject } from '../../lib/json.ts'
import type { Quantities } from '../../lib/units.ts'
import { expectStream } from '../chat/expect-body.ts'
import { parseChunk } from '../chat/parse-chunk.ts'
import { readChatChunk } from '../chat/read-chunk.ts'
import { createToolCallTracker } from '../chat/tool-calls.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { describeError } from '../responses/encode-failed.ts'
import { createSseParser, type SseEvent } from '../sse.ts'
import {
  type AnswerOptions,
  buildResponse,
  buildUsage,
  type ResponseState,
  readIncompleteReason,
  readReasoningTokens,
} from './answer.ts'
import { Output } from './output.ts'

/** `finished` is true after `[DONE]`, or at the end of a body that gave a finish reason. */
export function createResponsesStream(options: AnswerOptions): Relay {
  return expectStream(new ResponsesStream(options))
}

class ResponsesStream implements Relay {
  private readonly options: AnswerOptions
  private readonly parser: ReturnType<typeof createSseParser>
  private readonly tools = createToolCallTracker()
  private readonly output: Output
  private out = ''
  private sequenceNumber = 0
  private hasStarted = false
  private reason: string | undefined
  private usage: Quantities | undefined
  private reasoningTokens: number | undefined
  private finished = false
  private error: ReportedError | undefined
  /** True once the last event is out. */
  private isOver = false

  constructor(options: AnswerOptions) {
    this.options = options
    this.output = new Output({
      responseId: options.id,
      tools: options.context.tools,
      emit: (type, members) => this.emit(type, members),
    })
    this.parser = createSseParser({
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
    else this.writeFailed(UPSTREAM_ERROR)
    return this.take()
  }

  fail({ type, message }: RelayFailure): Buffer | undefined {
    this.writeFailed({ type, message })
    return this.take()
  }

  report(): RelayReport {
    const { usage, finished, error } = this
    const outputBytes = this.output.bytes
    return { outputBytes, finished, ...(usage ? { usage } : {}), ...(error ? { error } : {}) }
  }

  private onEvent(event: SseEvent): void {
    if (this.isOver) return
    const chunk = parseChunk(event)
    switch (chunk.kind) {
      case 'done':
        this.onDone()
        return
      case 'error':
        this.onError(chunk.error)
        return
      case 'chunk':
        this.onChunk(chunk.document)
    }
  }

  private onChunk(document: JsonObject): void {
    this.start()
    const delta = readChatChunk(document, this.tools)
    this.usage = delta.usage ?? this.usage
    this.reasoningTokens = readReasoningTokens(document) ?? this.reasoningTokens
    this.reason = delta.reason ?? this.reason
    this.output.add(delta)
    if (this.output.isOverfull()) this.onError(UPSTREAM_ERROR)
  }

  /** The upstream's own ending: `[DONE]`, or the end of a body that gave a reason before. */
  private onDone(): void {
    this.start()
    const reason = readIncompleteReason(this.reason)
    const status = reason === undefined ? 'completed' : 'incomplete'
    this.output.finish(status)
    const usage = buildUsage(
      this.usage,
      this.reasoningTokens,
      this.options.inputTokensEstimate,
      this.output.bytes,
    )
    const output = this.output.build()
    this.emitResponse(`response.${status}`, {
      status,
      output,
      usage,
      ...(reason === undefined ? {} : { reason }),
    })
    this.finished = true
    this.isOver = true
  }

  private onError(error: ReportedError): void {
    this.error ??= error
    this.writeFailed(error)
  }

  private start(): void {
    if (this.hasStarted) return
    this.hasStarted = true
    const state: ResponseState = { status: 'in_progress', output: [] }
    this.emitResponse('response.created', state)
    this.emitResponse('response.in_progress', state)
  }

  /** Open items stay open: the failure is the end. */
  private writeFailed(error: ReportedError): void {
    if (this.isOver) return
    this.start()
    const output = this.output.build()
    this.emitResponse('response.failed', { status: 'failed', output, error: describeError(error) })
    this.isOver = true
  }

  private emitResponse(type: string, state: ResponseState): void {
    this.emit(type, `"response":${JSON.stringify(buildResponse(this.options, state))}`)
  }

  /** Written by hand: it is called once per token. */
  private emit(type: string, members: string): void {
    const head = `{"type":"${type}","sequence_number":${this.sequenceNumber}`
    this.out += `event: ${type}\ndata: ${head},${members}}\n\n`
    this.sequenceNumber += 1
  }

  private take(): Buffer | undefined {
    const { out } = this
    this.out = ''
    return out === '' ? undefined : Buffer.from(out)
  }
}
