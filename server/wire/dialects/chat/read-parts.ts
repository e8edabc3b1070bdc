/** Reads a chat answer, a stream or a whole completion, as parts. */
import { isObject, type JsonObject } from '../../../base/lib/json.ts'
import { parseEventData } from '../parse-event-data.ts'
import { BEGIN, DONE, NO_PARTS, type Part, type PartReader } from '../parts/part.ts'
import { UPSTREAM_ERROR } from '../reported-error.ts'
import type { SseEvent } from '../sse.ts'
import type { UsageReading } from '../usage/usage-reading.ts'
import { parseChunk } from './parse-chunk.ts'
import { readChatBody } from './read-body.ts'
import { hasChoice, isForeignEvent, readChatChunk, readFirstMessage } from './read-chunk.ts'
import { type ChatUsageOptions, type ChatUsageReader, createChatUsageReader } from './read-usage.ts'
import { readStatedReasoning } from './split-tokens.ts'
import { createToolCallTracker } from './tool-calls.ts'
import { unfoldCompletion } from './unfold-body.ts'

export class ChatReader implements PartReader {
  readonly countsBroken = false
  private readonly tools = createToolCallTracker()
  private readonly options: ChatUsageOptions | undefined
  private readonly usage: ChatUsageReader
  /** Members that chunks repeat beside their choices. */
  readonly head: { id?: unknown; created?: unknown; model?: unknown; tier?: unknown } = {}
  private wholeUsage: unknown
  /** True once a chunk had a choice: a stream without any is not an answer. */
  private hasChoice = false

  constructor(options?: ChatUsageOptions) {
    this.options = options
    this.usage = createChatUsageReader(options)
  }

  event(event: SseEvent): readonly Part[] {
    const chunk = parseChunk(event)
    if (chunk.kind === 'chunk') return this.readChunk(chunk.document)
    if (chunk.kind === 'done') return [DONE]
    this.late(event)
    return [{ kind: 'error', error: chunk.error }]
  }

  /** An error, or an event after the end, may still contain usage. */
  late(event: SseEvent): void {
    const document = parseEventData(event)
    if (document) this.usage.read(document)
  }

  whole(document: unknown) {
    const reading = readChatBody(document, this.options)
    if (reading.error || !isObject(document)) {
      return {
        reading,
        parts: [{ kind: 'error', error: reading.error ?? UPSTREAM_ERROR } as const],
      }
    }
    this.wholeUsage = document.usage
    const parts = readChatChunk(unfoldCompletion(document), this.tools)
    return { reading, parts: [BEGIN, ...parts, DONE] }
  }

  reading(): UsageReading {
    return this.usage.reading()
  }

  reasoningTokens(): number | undefined {
    return readStatedReasoning(this.wholeUsage ?? this.usage.raw())
  }

  rawUsage(): JsonObject | undefined {
    return this.usage.raw()
  }

  private readChunk(document: JsonObject): readonly Part[] {
    const isFirst = !this.hasChoice && hasChoice(document)
    this.hasChoice ||= isFirst
    // Before the first choice the answer has not begun, and an event of another dialect states no
    // usage.
    if (!this.hasChoice && isForeignEvent(document)) return NO_PARTS
    const { head } = this
    head.id ??= document.id
    head.created ??= document.created
    head.model ??= document.model
    head.tier = document.service_tier ?? head.tier
    this.usage.read(document)
    if (!this.hasChoice) return NO_PARTS
    this.usage.readMessage(readFirstMessage(document))
    const parts = readChatChunk(document, this.tools)
    return isFirst ? [BEGIN, ...parts] : parts
  }
}
