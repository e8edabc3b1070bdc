/**
 * Translates a chat stream into a Responses stream: created, in progress, items from `added` to
 * `done`, and exactly one last event. A body that breaks off ends with `response.failed`.
 */

import type { JsonObject } from '../../lib/json.ts'
import { writeJson } from '../../lib/json.ts'
import type { ChatDelta } from '../chat/read-chunk.ts'
import {
  type ChatEnding,
  type ChatStreamWriter,
  createChatStreamTranslator,
} from '../chat/translate-stream.ts'
import type { Relay } from '../relay.ts'
import type { ReportedError } from '../reported-error.ts'
import { describeError } from '../responses/encode-failed.ts'
import {
  buildResponse,
  buildResponseUsage,
  type ResponseAnswerOptions,
  type ResponseProgress,
  readIncompleteReason,
  readReasoningTokens,
  readTier,
} from './answer.ts'
import { Output } from './output.ts'

/** Writes the events of a response for a stream of chat chunks. */
export function createResponsesStream(options: ResponseAnswerOptions): Relay {
  return createChatStreamTranslator(new ResponsesWriter(options))
}

class ResponsesWriter implements ChatStreamWriter {
  private readonly options: ResponseAnswerOptions
  private readonly output: Output
  private out = ''
  private sequenceNumber = 0
  private hasStarted = false
  private reasoningTokens: number | undefined

  constructor(options: ResponseAnswerOptions) {
    this.options = options
    this.output = new Output({
      responseId: options.id,
      tools: options.context.tools,
      sealsReasoning: options.context.sealsReasoning,
      showsSources: options.context.showsSources,
      emit: (type, members) => this.emit(type, members),
    })
  }

  get outputBytes(): number {
    return this.output.bytes
  }

  add(delta: ChatDelta, document: JsonObject): void {
    this.start()
    this.reasoningTokens = readReasoningTokens(document) ?? this.reasoningTokens
    this.output.add(delta)
  }

  heldBytes(): number {
    return this.output.heldBytes()
  }

  isOverfull(): boolean {
    return this.output.isOverfull()
  }

  finish({ reason: stopped, reading }: ChatEnding): void {
    this.start()
    const reason = readIncompleteReason(stopped)
    const status = reason === undefined ? 'completed' : 'incomplete'
    this.output.finish(status)
    const { inputTokensEstimate } = this.options
    this.emitResponse(`response.${status}`, {
      status,
      output: this.output.build(),
      usage: buildResponseUsage(
        reading.usage,
        this.reasoningTokens,
        inputTokensEstimate,
        this.outputBytes,
      ),
      tier: readTier(reading),
      reason,
    })
  }

  fail(error: ReportedError): void {
    this.start()
    const output = this.output.build()
    this.emitResponse('response.failed', { status: 'failed', output, error: describeError(error) })
  }

  take(): string {
    const { out } = this
    this.out = ''
    return out
  }

  private start(): void {
    if (this.hasStarted) return
    this.hasStarted = true
    const state: ResponseProgress = { status: 'in_progress', output: [] }
    this.emitResponse('response.created', state)
    this.emitResponse('response.in_progress', state)
  }

  private emitResponse(type: string, state: ResponseProgress): void {
    this.emit(type, `"response":${writeJson(buildResponse(this.options, state))}`)
  }

  /** Written by hand: it is called once per token. */
  private emit(type: string, members: string): void {
    const head = `{"type":"${type}","sequence_number":${this.sequenceNumber}`
    this.out += `event: ${type}\ndata: ${head},${members}}\n\n`
    this.sequenceNumber += 1
  }
}
