/**
 * Writes an answer as a chat completion. As a stream: a chunk with the role, chunks of text,
 * reasoning and calls, one with the finish reason, usage if requested, `[DONE]`; a body that breaks
 * off ends with an error chunk.
 */
import { type JsonObject, writeJson } from '../../../base/lib/json.ts'
import { estimateTokensOfBytes } from '../../../base/lib/text/estimate-tokens.ts'
import { CompletionContent, describeImage } from '../chat/collect-stream.ts'
import { buildChatError, encodeChatError } from '../chat/error.ts'
import { readFreeText } from '../chat/free-text-tool.ts'
import { carrySignature } from '../contents/signature.ts'
import { MessagesReader } from '../messages/read-parts.ts'
import type {
  CallPart,
  ContentPart,
  Ending,
  PartCall,
  PartReader,
  PartWriter,
} from '../parts/part.ts'
import { translateAnswer } from '../parts/translate-answer.ts'
import type { Relay } from '../relay.ts'
import type { ReportedError } from '../reported-error.ts'
import { encodeSseEvent } from '../sse.ts'
import { type ChatAnswerOptions, encodeTier, mintCallId, toChatUsage } from './answer.ts'

/** Translates a message to chunks. */
export function createChatStream(options: ChatAnswerOptions): Relay {
  return writeChat(new MessagesReader(options.usage), options, 'stream')
}

/** Translates a message to a completion, at its end. */
export function createChatBody(options: ChatAnswerOptions): Relay {
  return writeChat(new MessagesReader(options.usage), options, 'whole')
}

/** Translates an answer of any dialect to chunks, or to a completion at its end. */
export function writeChat(
  reader: PartReader,
  options: ChatAnswerOptions,
  form: 'stream' | 'whole',
): Relay {
  const writer = form === 'stream' ? new ChunkWriter(options) : new CompletionWriter(options)
  return translateAnswer(reader, writer, form)
}

/** The common part of both forms. */
abstract class ChatWriter {
  protected readonly options: ChatAnswerOptions
  protected out = ''

  constructor(options: ChatAnswerOptions) {
    this.options = options
  }

  take(): string {
    const text = this.out
    this.out = ''
    return text
  }

  heldBytes(): number {
    return 0
  }

  isOverfull(): boolean {
    return false
  }

  /** The older form has room for one call, and the request allows no more. */
  protected hasRoomFor({ position }: PartCall): boolean {
    return !this.options.legacyFunctions || position === 0
  }

  protected isCustom({ name }: PartCall): boolean {
    return this.options.customTools?.has(name) === true
  }

  protected idOf({ id, position }: PartCall): string {
    return id || mintCallId(this.options.id, position)
  }

  protected toReason({ reason = 'stop' }: Ending): string {
    return reason === 'tool_calls' && this.options.legacyFunctions ? 'function_call' : reason
  }

  protected describeUsage({ reading, reasoningTokens, outputBytes }: Ending): JsonObject {
    const estimate = {
      input_token: this.options.inputTokensEstimate,
      output_token: estimateTokensOfBytes(outputBytes),
    }
    return {
      usage: toChatUsage(reading.usage, reasoningTokens, estimate),
      ...encodeTier(reading),
    }
  }
}

class ChunkWriter extends ChatWriter implements PartWriter {
  /** The beginning of each chunk. */
  private readonly head: string
  private hasStarted = false
  private imageCount = 0
  /**
   * Calls that were opened, with the input of free-text tools, which is sent once it is complete.
   */
  private readonly calls = new Map<PartCall, string>()

  constructor(options: ChatAnswerOptions) {
    super(options)
    const { id, created, model } = options
    const head = { id, object: 'chat.completion.chunk', created, model }
    this.head = JSON.stringify(head).slice(0, -1)
  }

  add(part: ContentPart): void {
    this.start()
    switch (part.kind) {
      case 'text':
        this.writeDelta(`{"content":${JSON.stringify(part.text)}}`)
        return
      case 'reasoning':
        this.writeDelta(`{"reasoning_content":${JSON.stringify(part.text)}}`)
        return
      case 'refusal':
        this.writeDelta(`{"refusal":${JSON.stringify(part.text)}}`)
        return
      case 'sources':
        this.writeDelta(writeJson({ annotations: part.annotations }))
        return
      case 'image':
        this.writeDelta(writeJson({ images: [describeImage(part, this.imageCount)] }))
        this.imageCount += 1
        return
      case 'mark':
        this.writeDelta(writeJson(carrySignature(part.signature)))
        return
      case 'call':
        if (this.hasRoomFor(part.call)) this.addCall(part)
    }
  }

  finish(ending: Ending): void {
    this.start()
    for (const call of this.calls.keys()) this.endCustom(call)
    const finish_reason = this.toReason(ending)
    const choice = { index: 0, delta: {}, logprobs: null, finish_reason }
    this.write(`"choices":${writeJson([choice])}`)
    if (this.options.includeUsage) {
      this.write(`"choices":[],${writeJson(this.describeUsage(ending)).slice(1, -1)}`)
    }
    this.out += encodeSseEvent(undefined, '[DONE]')
  }

  fail(error: ReportedError): void {
    this.out += encodeChatError(error)
  }

  private start(): void {
    if (this.hasStarted) return
    this.hasStarted = true
    this.writeDelta('{"role":"assistant","content":""}')
  }

  private addCall({ call, arguments: text, isComplete, signature }: CallPart): void {
    const isCustom = this.isCustom(call)
    const { name } = call
    const waiting = this.calls.get(call)
    if (waiting === undefined) {
      const id = this.idOf(call)
      const opened = isCustom
        ? { id, type: 'custom', custom: { name, input: '' } }
        : { id, type: 'function', function: { name, arguments: '' } }
      this.writeCall(call, { ...opened, ...carrySignature(signature) })
    }
    this.calls.set(call, isCustom ? (waiting ?? '') + text : '')
    if (!isCustom && text !== '') this.writeCall(call, { function: { arguments: text } })
    if (isCustom && isComplete) this.endCustom(call)
  }

  private endCustom(call: PartCall): void {
    const waiting = this.calls.get(call)
    if (!waiting) return
    this.calls.set(call, '')
    this.writeCall(call, { custom: { input: readFreeText(waiting) } })
  }

  private writeCall(call: PartCall, members: JsonObject): void {
    const delta = this.options.legacyFunctions
      ? { function_call: members.function }
      : { tool_calls: [{ index: call.position, ...members }] }
    this.writeDelta(writeJson(delta))
  }

  /** Written by hand: it is called once per token. */
  private writeDelta(delta: string): void {
    this.write(`"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":null}]`)
  }

  private write(members: string): void {
    this.out += `data: ${this.head},${members}}\n\n`
  }
}

class CompletionWriter extends ChatWriter implements PartWriter {
  private readonly content = new CompletionContent()

  add(part: ContentPart): void {
    if (part.kind !== 'call' || this.hasRoomFor(part.call)) this.content.add(part)
  }

  finish(ending: Ending): void {
    const { id, created, model } = this.options
    const choice = {
      index: 0,
      message: this.buildMessage(),
      logprobs: null,
      finish_reason: this.toReason(ending),
    }
    const head = { id, object: 'chat.completion', created, model, choices: [choice] }
    this.out = writeJson({ ...head, ...this.describeUsage(ending) })
  }

  fail(error: ReportedError): void {
    this.out = writeJson(buildChatError(error))
  }

  private buildMessage(): JsonObject {
    const { legacyFunctions = false } = this.options
    const { text } = this.content.texts
    const calls = [...this.content.calls].map(([call, input]) => ({
      ...this.buildCall(call, input),
      ...carrySignature(this.content.signatures.get(call)),
    }))
    return {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      ...this.content.describe(),
      ...(legacyFunctions || calls.length === 0 ? {} : { tool_calls: calls }),
      ...(legacyFunctions && calls[0]?.function ? { function_call: calls[0].function } : {}),
    }
  }

  private buildCall(call: PartCall, text: string): CalledTool {
    const id = this.idOf(call)
    const { name } = call
    if (this.isCustom(call)) {
      return { id, type: 'custom', custom: { name, input: readFreeText(text) } }
    }
    return { id, type: 'function', function: { name, arguments: text } }
  }
}

interface CalledTool extends JsonObject {
  readonly function?: JsonObject
}
