/**
 * Translates a messages stream into a chat stream: a chunk with the role, chunks of text, reasoning
 * and calls, one with the finish reason, usage if requested, `[DONE]`. A body that breaks off ends
 * with an error chunk.
 */

import { asString, isObject, type JsonObject, member, writeJson } from '../../lib/json.ts'
import { estimateTokensOfBytes } from '../../lib/text/estimate-tokens.ts'
import { encodeChatError } from '../chat/error.ts'
import { readFreeText } from '../chat/free-text-tool.ts'
import { readMessagesError } from '../messages/read-error.ts'
import { readDeltaText } from '../messages/read-event.ts'
import { createMessagesUsageReader, type MessagesUsageReader } from '../messages/read-usage.ts'
import { parseEventData } from '../parse-event-data.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { ANSWER_EVENT_BYTES_MAX, createSseParser, encodeSseEvent, type SseEvent } from '../sse.ts'
import {
  type ChatAnswerOptions,
  encodeTier,
  mintCallId,
  readRefusal,
  toChatUsage,
  toFinishReason,
} from './answer.ts'
import { Citations } from './citations.ts'
import { SearchReader } from './searches.ts'

/**
 * `finished` is true after `message_stop`, or at the end of a body that gave a stop reason: then
 * nothing of the answer is missing.
 */
export function createChatStream(options: ChatAnswerOptions): Relay {
  return new ChatStream(options)
}

/** A call whose block is open. */
interface OpenCall {
  readonly index: number
  /** The initial input of the block; clients only read argument deltas. */
  readonly input: unknown
  hasArguments: boolean
  /** Input of a tool of free text, which is inside the arguments: sent once it is whole. */
  waiting: string | undefined
}

class ChatStream implements Relay {
  private readonly options: ChatAnswerOptions
  private readonly parser: ReturnType<typeof createSseParser>
  private readonly usage: MessagesUsageReader
  /** Calls by the index of their block: a proxy may open the next before it closes one. */
  private readonly calls = new Map<unknown, OpenCall>()
  /** Signatures of open thinking blocks, by index. */
  private readonly signatures = new Map<unknown, string>()
  private readonly citations = new Citations()
  private readonly searches = new SearchReader()
  private callCount = 0
  private out = ''
  private hasStarted = false
  private stopReason: string | undefined
  private refusal: string | undefined
  private outputBytes = 0
  private outputEvents = 0
  private finished = false
  private error: ReportedError | undefined
  private isOver = false

  constructor(options: ChatAnswerOptions) {
    this.options = options
    this.usage = createMessagesUsageReader(options.usage)
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
    if (!this.isOver && this.stopReason !== undefined) this.onStop()
    else if (this.hasStarted) this.breakOff(UPSTREAM_ERROR)
    else this.onError(UPSTREAM_ERROR)
    return this.take()
  }

  fail({ type, message }: RelayFailure): Buffer | undefined {
    this.breakOff({ type, message })
    return this.take()
  }

  heldBytes(): number {
    return this.parser.heldBytes()
  }

  report(): RelayReport {
    const { outputBytes, outputEvents, finished, error } = this
    const reading = this.usage.reading()
    return { ...reading, outputBytes, outputEvents, finished, ...(error ? { error } : {}) }
  }

  private onEvent(event: SseEvent): void {
    const data = parseEventData(event)
    if (this.isOver) {
      // Usage behind the end counts as well.
      if (data?.type === 'message_delta') this.usage.delta(data)
      else if (data) this.usage.other(data)
    } else if (data) {
      this.onData(data)
    } else {
      this.onError(UPSTREAM_ERROR)
    }
  }

  private onData(data: JsonObject): void {
    switch (data.type) {
      case 'message_start':
        this.usage.start(data.message)
        this.start()
        return
      case 'content_block_start':
        this.onBlockStart(data)
        return
      case 'content_block_delta':
        this.onDelta(data)
        return
      case 'content_block_stop':
        this.onBlockStop(data)
        return
      case 'message_delta':
        this.usage.delta(data)
        this.stopReason = asString(member(data.delta, 'stop_reason')) ?? this.stopReason
        this.refusal = readRefusal(data.delta) ?? this.refusal
        return
      case 'message_stop':
        this.usage.other(data)
        this.onStop()
        return
      default: {
        const error = readMessagesError(data)
        if (!error) return
        this.usage.other(data)
        this.onError(error)
      }
    }
  }

  private start(): void {
    if (!this.hasStarted) this.writeDelta({ role: 'assistant', content: '' })
    this.hasStarted = true
  }

  private onBlockStart({ index, content_block: block }: JsonObject): void {
    this.start()
    this.usage.block(block)
    if (!isObject(block)) return
    this.writeSearch(this.searches.startBlock(index, block))
    if (block.type === 'text') {
      this.writeText('content', asString(block.text) ?? '')
      this.citations.addAll(block.citations)
    }
    if (block.type === 'thinking') {
      this.writeText('reasoning_content', asString(block.thinking) ?? '')
      this.signatures.set(index, asString(block.signature) ?? '')
    }
    if (block.type === 'redacted_thinking') this.writeSigned({ data: block.data })
    if (block.type !== 'tool_use') return
    // The older form has room for one call, and the request allows no more.
    if (this.options.legacyFunctions && this.callCount > 0) return
    const { name, input } = block
    const id = block.id || mintCallId(this.options.id, this.callCount)
    const isCustom = this.options.customTools?.has(name) === true
    const waiting = isCustom ? '' : undefined
    const call: OpenCall = { index: this.callCount, input, hasArguments: false, waiting }
    this.callCount += 1
    this.calls.set(index, call)
    this.writeCall(
      isCustom
        ? { index: call.index, id, type: 'custom', custom: { name, input: '' } }
        : { index: call.index, id, type: 'function', function: { name, arguments: '' } },
    )
  }

  private onDelta(data: JsonObject): void {
    this.start()
    const text = readDeltaText(data)
    const type = member(data.delta, 'type')
    if (type === 'text_delta') this.writeText('content', text)
    if (type === 'thinking_delta') this.writeText('reasoning_content', text)
    if (type === 'citations_delta') this.citations.add(member(data.delta, 'citation'))
    if (type === 'signature_delta') {
      const signature = asString(member(data.delta, 'signature')) ?? ''
      this.signatures.set(data.index, (this.signatures.get(data.index) ?? '') + signature)
    }
    if (type === 'input_json_delta') {
      this.searches.addArguments(data.index, text)
      this.writeArguments(this.calls.get(data.index), text)
    }
  }

  /** A call without arguments has them as an object at its start, most often an empty one. */
  private onBlockStop({ index }: JsonObject): void {
    const signature = this.signatures.get(index)
    this.signatures.delete(index)
    if (signature) this.writeSigned({ signature })
    this.writeSearch(this.searches.endBlock(index))
    this.writeCitations()
    const call = this.calls.get(index)
    this.calls.delete(index)
    if (!call) return
    if (!call.hasArguments) {
      const { input } = call
      this.writeArguments(call, asString(input) || writeJson(isObject(input) ? input : {}))
    }
    if (call.waiting === undefined) return
    this.writeCall({ index: call.index, custom: { input: readFreeText(call.waiting) } })
  }

  private onStop(): void {
    // Without a start and a reason nothing of it was a message.
    if (!this.hasStarted && this.stopReason === undefined) {
      this.onError(UPSTREAM_ERROR)
      return
    }
    this.start()
    this.writeCitations()
    if (this.refusal !== undefined) this.writeDelta({ refusal: this.refusal })
    const reason = toFinishReason(this.stopReason, this.options)
    this.write({ choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: reason }] })
    if (this.options.includeUsage) {
      const estimate = {
        input_token: this.options.inputTokensEstimate,
        output_token: estimateTokensOfBytes(this.outputBytes),
      }
      const reading = this.usage.reading()
      const usage = toChatUsage(reading.usage, this.usage.reasoning(), estimate)
      this.write({ choices: [], usage, ...encodeTier(reading) })
    }
    this.out += encodeSseEvent(undefined, '[DONE]')
    this.finished = true
    this.isOver = true
  }

  private onError(error: ReportedError): void {
    if (this.isOver) return
    this.error = error
    this.breakOff(error)
  }

  private writeText(field: 'content' | 'reasoning_content', text: string): void {
    if (text === '') return
    this.addOutput(text)
    if (field === 'content') this.citations.addText(text)
    this.writeDelta({ [field]: text })
  }

  /** Writes the sources of the block that ends. */
  private writeCitations(): void {
    const annotations = this.citations.endBlock()
    if (annotations.length > 0) this.writeDelta({ annotations })
  }

  private writeSearch(search: JsonObject | undefined): void {
    if (search && this.options.showsDetails) this.writeDelta({ hosted_searches: [search] })
  }

  /** Ends a block of reasoning: the signature of its text, or all of it as the vendor's secret. */
  private writeSigned(block: JsonObject): void {
    if (this.options.showsDetails) this.writeDelta({ signed_reasoning: [block] })
  }

  /** Drops arguments of a block that is not the caller's tool, such as a search by the vendor. */
  private writeArguments(call: OpenCall | undefined, text: string): void {
    if (!call || text === '') return
    call.hasArguments = true
    this.addOutput(text)
    if (call.waiting !== undefined) {
      call.waiting += text
      return
    }
    this.writeCall({ index: call.index, function: { arguments: text } })
  }

  private addOutput(text: string): void {
    this.outputBytes += Buffer.byteLength(text)
    this.outputEvents += 1
  }

  private writeCall(call: JsonObject): void {
    const { legacyFunctions } = this.options
    this.writeDelta(legacyFunctions ? { function_call: call.function } : { tool_calls: [call] })
  }

  private writeDelta(delta: JsonObject): void {
    this.write({ choices: [{ index: 0, delta, logprobs: null, finish_reason: null }] })
  }

  private breakOff(error: ReportedError): void {
    if (this.isOver) return
    this.isOver = true
    this.out += encodeChatError(error)
  }

  private write(fields: JsonObject): void {
    const { id, created, model } = this.options
    const chunk = { id, object: 'chat.completion.chunk', created, model, ...fields }
    this.out += encodeSseEvent(undefined, writeJson(chunk))
  }

  private take(): Buffer | undefined {
    const text = this.out
    this.out = ''
    return text === '' ? undefined : Buffer.from(text)
  }
}
