/**
 * A chat stream told as a messages stream: one `message_start`, blocks in sequence, one
 * `message_delta`, one `message_stop`. A body that breaks off becomes an `error` event; an ending
 * that the upstream did not give is never made up.
 */
import type { JsonObject } from '../../lib/json.ts'
import type { Quantities } from '../../lib/units.ts'
import { expectStream } from '../chat/expect-body.ts'
import { parseChunk } from '../chat/parse-chunk.ts'
import { type ChatDelta, readChatChunk } from '../chat/read-chunk.ts'
import { createToolCallTracker } from '../chat/tool-calls.ts'
import { encodeMessagesError } from '../messages/error.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { createSseParser, encodeSseEvent, type SseEvent } from '../sse.ts'
import { type AnswerOptions, buildUsage, mintToolId, toStopFields } from './answer.ts'
import { BlockWriter } from './block-writer.ts'
import { createPrefillCutter } from './prefill.ts'

/** `finished` is true after `[DONE]`, or at the end of a body that gave a finish reason. */
export function createMessagesStream(options: AnswerOptions): Relay {
  return expectStream(new MessagesStream(options))
}

class MessagesStream implements Relay {
  private readonly options: AnswerOptions
  private readonly parser: ReturnType<typeof createSseParser>
  private readonly tools = createToolCallTracker()
  private readonly blocks: BlockWriter
  private readonly prefill: ReturnType<typeof createPrefillCutter>
  private out = ''
  private hasStarted = false
  private hasRefusal = false
  private reason: string | undefined
  private stopSequence: string | undefined
  private usage: Quantities | undefined
  private outputBytes = 0
  private finished = false
  private error: ReportedError | undefined
  /** True once nothing more goes to the caller. */
  private isOver = false

  constructor(options: AnswerOptions) {
    const { toolNames, prefill } = options.context
    this.options = options
    this.prefill = createPrefillCutter(prefill)
    this.blocks = new BlockWriter(
      (position) => mintToolId(options.id, position),
      (name) => toolNames.fromChat(name),
    )
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
    else if (!this.isOver) this.writeError(UPSTREAM_ERROR)
    return this.take()
  }

  fail({ type, message }: RelayFailure): Buffer | undefined {
    if (this.isOver) return undefined
    this.writeError({ type, message })
    return this.take()
  }

  report(): RelayReport {
    const { usage, outputBytes, finished, error } = this
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
    if (!this.hasStarted) this.writeStart()
    const delta = readChatChunk(document, this.tools)
    this.usage = delta.usage ?? this.usage
    this.reason = delta.reason ?? this.reason
    this.stopSequence = delta.stopSequence ?? this.stopSequence
    this.outputBytes += countDeltaBytes(delta)
    this.writeDelta(delta)
    if (this.blocks.isOverfull()) this.onError(UPSTREAM_ERROR)
  }

  private writeDelta({ reasoning, text, refusal, tools }: ChatDelta): void {
    if (this.options.context.showsThinking) this.blocks.addText('thinking', reasoning)
    if (text !== '') this.blocks.addText('text', this.prefill.push(text))
    if (refusal !== '') {
      this.hasRefusal = true
      this.blocks.addText('text', refusal)
    }
    if (tools.length > 0) this.blocks.addText('text', this.prefill.end())
    for (const piece of tools) this.blocks.addTool(piece)
  }

  /** The upstream's own ending: `[DONE]`, or the end of a body that gave a reason before. */
  private onDone(): void {
    if (!this.hasStarted) this.writeStart()
    this.blocks.addText('text', this.prefill.end())
    this.blocks.finish()
    this.out += this.blocks.take()
    const { reason, stopSequence, hasRefusal } = this
    const hasTools = this.tools.calls.length > 0
    const delta = toStopFields({ reason, stopSequence, hasTools, hasRefusal })
    const usage = buildUsage(this.usage, this.options.inputTokensEstimate, this.outputBytes)
    this.write({ type: 'message_delta', delta, usage })
    this.write({ type: 'message_stop' })
    this.finished = true
    this.isOver = true
  }

  private onError(error: ReportedError): void {
    this.error = error
    this.writeError(error)
  }

  private writeStart(): void {
    this.hasStarted = true
    const { id, model, inputTokensEstimate } = this.options
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: buildUsage(undefined, inputTokensEstimate, 0),
    }
    this.write({ type: 'message_start', message })
  }

  /** Open blocks stay open: the error is the end. */
  private writeError(error: ReportedError): void {
    this.isOver = true
    this.out += this.blocks.take() + encodeMessagesError(error)
  }

  private write(event: { readonly type: string; readonly [field: string]: unknown }): void {
    this.out += encodeSseEvent(event.type, JSON.stringify(event))
  }

  private take(): Buffer | undefined {
    const text = this.out + this.blocks.take()
    this.out = ''
    return text === '' ? undefined : Buffer.from(text)
  }
}

function countDeltaBytes({ reasoning, text, refusal, tools }: ChatDelta): number {
  let bytes = Buffer.byteLength(reasoning) + Buffer.byteLength(text) + Buffer.byteLength(refusal)
  for (const piece of tools) bytes += Buffer.byteLength(piece.arguments)
  return bytes
}
