/**
 * Writes an answer as a response. As a stream: created, in progress, items from `added` to `done`,
 * and exactly one last event; a body that breaks off ends with `response.failed`.
 */
import { writeJson } from '../../../base/lib/json.ts'
import { buildChatError } from '../chat/error.ts'
import { ChatReader } from '../chat/read-parts.ts'
import type { ContentPart, Ending, PartWriter } from '../parts/part.ts'
import { translateAnswer } from '../parts/translate-answer.ts'
import type { Relay } from '../relay.ts'
import type { ReportedError } from '../reported-error.ts'
import { describeError } from '../responses/encode-failed.ts'
import {
  buildResponse,
  buildResponseUsage,
  type ResponseAnswerOptions,
  type ResponseProgress,
  readIncompleteReason,
  readTier,
} from './answer.ts'
import { Output } from './output.ts'

/** Translates a chat answer to the events of a response. */
export function createResponsesStream(options: ResponseAnswerOptions): Relay {
  return translateAnswer(
    new ChatReader(options.usage),
    new ResponsesWriter(options, 'stream'),
    'stream',
  )
}

/** Translates a chat answer to a response, at its end. */
export function createResponsesBody(options: ResponseAnswerOptions): Relay {
  return translateAnswer(
    new ChatReader(options.usage),
    new ResponsesWriter(options, 'whole'),
    'whole',
  )
}

export class ResponsesWriter implements PartWriter {
  private readonly options: ResponseAnswerOptions
  private readonly isWhole: boolean
  private readonly output: Output
  private out = ''
  private sequenceNumber = 0
  private hasStarted = false

  constructor(options: ResponseAnswerOptions, form: 'stream' | 'whole') {
    this.options = options
    this.isWhole = form === 'whole'
    this.output = new Output({
      responseId: options.id,
      tools: options.context.tools,
      sealsReasoning: options.context.sealsReasoning,
      showsSources: options.context.showsSources,
      emit: this.isWhole ? () => {} : (type, members) => this.emit(type, members),
    })
  }

  add(part: ContentPart): void {
    this.start()
    this.output.add(part)
  }

  heldBytes(): number {
    return this.output.heldBytes()
  }

  isOverfull(): boolean {
    return this.output.isOverfull()
  }

  finish({ reason: stopped, reading, reasoningTokens, outputBytes }: Ending): void {
    this.start()
    const reason = readIncompleteReason(stopped)
    const status = reason === undefined ? 'completed' : 'incomplete'
    this.output.finish(status)
    const { inputTokensEstimate } = this.options
    this.writeResponse(`response.${status}`, {
      status,
      output: this.output.build(),
      usage: buildResponseUsage(reading.usage, reasoningTokens, inputTokensEstimate, outputBytes),
      tier: readTier(reading),
      reason,
    })
  }

  fail(error: ReportedError): void {
    if (this.isWhole) {
      this.out = writeJson(buildChatError(error))
      return
    }
    this.start()
    const output = this.output.build()
    this.writeResponse('response.failed', { status: 'failed', output, error: describeError(error) })
  }

  take(): string {
    const { out } = this
    this.out = ''
    return out
  }

  private start(): void {
    if (this.hasStarted || this.isWhole) return
    this.hasStarted = true
    const state: ResponseProgress = { status: 'in_progress', output: [] }
    this.writeResponse('response.created', state)
    this.writeResponse('response.in_progress', state)
  }

  private writeResponse(type: string, state: ResponseProgress): void {
    const response = writeJson(buildResponse(this.options, state))
    if (this.isWhole) this.out = response
    else this.emit(type, `"response":${response}`)
  }

  /** Written by hand: it is called once per token. */
  private emit(type: string, members: string): void {
    const head = `{"type":"${type}","sequence_number":${this.sequenceNumber}`
    this.out += `event: ${type}\ndata: ${head},${members}}\n\n`
    this.sequenceNumber += 1
  }
}
