/**
 * Translates a chat stream into a messages stream: one `message_start`, blocks in sequence, one
 * `message_delta`, one `message_stop`. A body that breaks off ends with an `error` event.
 */
import { type JsonObject, writeJson } from '../../lib/json.ts'
import type { ChatDelta } from '../chat/read-chunk.ts'
import { readStatedReasoning } from '../chat/split-tokens.ts'
import {
  type ChatEnding,
  type ChatStreamWriter,
  createChatStreamTranslator,
} from '../chat/translate-stream.ts'
import { encodeMessagesError } from '../messages/error.ts'
import type { Relay } from '../relay.ts'
import type { ReportedError } from '../reported-error.ts'
import { encodeSseEvent } from '../sse.ts'
import { buildMessageUsage, type MessageAnswerOptions, mintToolId, toStopFields } from './answer.ts'
import { BlockWriter } from './block-writer.ts'
import { toCitation } from './citation.ts'
import { createPrefillCutter } from './prefill.ts'

/** Writes the events of a message for a stream of chat chunks. */
export function createMessagesStream(options: MessageAnswerOptions): Relay {
  return createChatStreamTranslator(new MessagesWriter(options))
}

class MessagesWriter implements ChatStreamWriter {
  private readonly options: MessageAnswerOptions
  private readonly blocks: BlockWriter
  private readonly prefill: ReturnType<typeof createPrefillCutter>
  private out = ''
  private hasStarted = false
  private hasRefusal = false
  private thinkingTokens: number | undefined
  outputBytes = 0

  constructor(options: MessageAnswerOptions) {
    const { toolNames, prefill } = options.context
    this.options = options
    this.prefill = createPrefillCutter(prefill)
    this.blocks = new BlockWriter(
      (position) => mintToolId(options.id, position),
      (name) => toolNames.fromChat(name),
    )
  }

  add(delta: ChatDelta, { usage }: JsonObject): void {
    this.start()
    this.thinkingTokens = readStatedReasoning(usage) ?? this.thinkingTokens
    this.outputBytes += countDeltaBytes(delta)
    const { reasoning, text, refusal, tools, annotations } = delta
    if (this.options.context.showsThinking) this.blocks.addText('thinking', reasoning)
    if (text !== '') this.blocks.addText('text', this.prefill.push(text))
    for (const annotation of annotations) {
      const citation = toCitation(annotation)
      if (citation) this.blocks.addCitation(citation)
    }
    if (refusal !== '') {
      this.hasRefusal = true
      this.blocks.addText('text', refusal)
    }
    if (tools.length > 0) this.blocks.addText('text', this.prefill.end())
    for (const piece of tools) this.blocks.addTool(piece)
  }

  heldBytes(): number {
    return this.blocks.heldBytes()
  }

  isOverfull(): boolean {
    return this.blocks.isOverfull()
  }

  finish({ reason, stopSequence, hasTools, reading }: ChatEnding): void {
    this.start()
    this.blocks.addText('text', this.prefill.end())
    this.blocks.finish()
    this.out += this.blocks.take()
    const { hasRefusal, outputBytes } = this
    const delta = toStopFields({ reason, stopSequence, hasTools, hasRefusal })
    const { inputTokensEstimate } = this.options
    const counted = buildMessageUsage(
      reading,
      inputTokensEstimate,
      outputBytes,
      this.thinkingTokens,
    )
    this.write({ type: 'message_delta', delta, usage: counted })
    this.write({ type: 'message_stop' })
  }

  fail(error: ReportedError): void {
    this.out += this.blocks.take() + encodeMessagesError(error)
  }

  take(): string {
    const text = this.out + this.blocks.take()
    this.out = ''
    return text
  }

  private start(): void {
    if (this.hasStarted) return
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
      usage: buildMessageUsage({}, inputTokensEstimate, 0),
    }
    this.write({ type: 'message_start', message })
  }

  private write(event: { readonly type: string; readonly [field: string]: unknown }): void {
    this.out += encodeSseEvent(event.type, writeJson(event))
  }
}

function countDeltaBytes({ reasoning, text, refusal, tools }: ChatDelta): number {
  let bytes = Buffer.byteLength(reasoning) + Buffer.byteLength(text) + Buffer.byteLength(refusal)
  for (const piece of tools) bytes += Buffer.byteLength(piece.arguments)
  return bytes
}
