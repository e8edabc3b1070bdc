/** Collects a chat stream into one whole completion. */
import { type JsonObject, member, writeJson } from '../../lib/json.ts'
import { parseEventData } from '../parse-event-data.ts'
import type { Relay } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { ANSWER_EVENT_BYTES_MAX, createSseParser, type SseEvent } from '../sse.ts'
import { buildChatError } from './error.ts'
import { parseChunk } from './parse-chunk.ts'
import { hasChoice, isForeignEvent, readChatChunk, readFirstMessage } from './read-chunk.ts'
import { type ChatUsageOptions, type ChatUsageReader, createChatUsageReader } from './read-usage.ts'
import { createToolCallTracker, type ToolCall } from './tool-calls.ts'

/**
 * Returns one JSON document at the end: a completion, or an error if the stream broke off. The
 * report has the usage of all events, of which the document shows only a part.
 */
export function createChatCollector(options: ChatUsageOptions = {}): Relay {
  return new ChatCollector(options)
}

class ChatCollector implements Relay {
  private readonly parser = createSseParser({
    limitBytes: ANSWER_EVENT_BYTES_MAX,
    onEvent: (event) => this.onEvent(event),
    onOverflow: () => {
      this.error ??= UPSTREAM_ERROR
    },
  })
  private readonly tools = createToolCallTracker()
  private readonly argumentsOf = new Map<ToolCall, string>()
  private readonly head: { id?: unknown; created?: unknown; model?: unknown } = {}
  private readonly usage: ChatUsageReader
  private tier: unknown
  private readonly annotations: unknown[] = []
  private text = ''
  private reasoning = ''
  private refusal = ''
  private reason: string | undefined
  private stopSequence: string | undefined
  private isDone = false
  private hasChoice = false
  private error: ReportedError | undefined

  constructor(options: ChatUsageOptions) {
    this.usage = createChatUsageReader(options)
  }

  push(chunk: Buffer): undefined {
    this.parser.push(chunk)
  }

  end(): Buffer {
    this.parser.end()
    const isEnded = this.isDone || this.reason !== undefined
    if (!isEnded || !this.hasChoice) this.error ??= UPSTREAM_ERROR
    const document = this.error ? buildChatError(this.error) : this.buildCompletion()
    return Buffer.from(writeJson(document))
  }

  fail(): undefined {
    this.error ??= UPSTREAM_ERROR
  }

  report() {
    return { ...this.usage.reading(), outputBytes: 0, finished: this.isDone }
  }

  private onEvent(event: SseEvent): void {
    const isOver = this.isDone || this.error !== undefined
    const read = isOver ? undefined : parseChunk(event)
    if (read?.kind === 'chunk') this.onChunk(read.document)
    else if (read?.kind === 'done') this.isDone = true
    else {
      // An error, or an event behind the end, may state usage.
      const document = parseEventData(event)
      if (document) this.usage.read(document)
      if (read) this.error = read.error
    }
  }

  private onChunk(document: JsonObject): void {
    this.head.id ??= document.id
    this.head.created ??= document.created
    this.head.model ??= document.model
    this.hasChoice ||= hasChoice(document)
    // Before the first choice, an event of another dialect states no usage of this answer.
    if (!this.hasChoice && isForeignEvent(document)) return
    this.usage.read(document)
    this.usage.readMessage(readFirstMessage(document))
    this.tier = document.service_tier ?? this.tier
    const annotations = member(readFirstMessage(document), 'annotations')
    if (Array.isArray(annotations)) for (const one of annotations) this.annotations.push(one)
    const delta = readChatChunk(document, this.tools)
    this.text += delta.text
    this.reasoning += delta.reasoning
    this.refusal += delta.refusal
    this.reason = delta.reason ?? this.reason
    this.stopSequence = delta.stopSequence ?? this.stopSequence
    for (const { call, arguments: text } of delta.tools) {
      this.argumentsOf.set(call, (this.argumentsOf.get(call) ?? '') + text)
    }
  }

  private buildCompletion(): JsonObject {
    const { id, created = 0, model } = this.head
    const usage = this.usage.raw()
    const calls = this.tools.calls.map((call) => this.buildCall(call))
    const message = {
      role: 'assistant',
      content: this.text === '' ? null : this.text,
      refusal: this.refusal === '' ? null : this.refusal,
      ...(this.reasoning === '' ? {} : { reasoning_content: this.reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(this.annotations.length === 0 ? {} : { annotations: this.annotations }),
    }
    const reason = this.reason ?? (calls.length > 0 ? 'tool_calls' : 'stop')
    const stopped = this.stopSequence === undefined ? {} : { stop_reason: this.stopSequence }
    return {
      id,
      object: 'chat.completion',
      created,
      model,
      choices: [{ index: 0, message, finish_reason: reason, ...stopped }],
      usage,
      service_tier: this.tier,
    }
  }

  private buildCall(call: ToolCall): JsonObject {
    const functionCall = { name: call.name, arguments: this.argumentsOf.get(call) ?? '' }
    return { id: call.id || `call_${call.position}`, type: 'function', function: functionCall }
  }
}
