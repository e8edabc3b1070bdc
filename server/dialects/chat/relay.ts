/**
 * Chat completions streamed to a caller of the same dialect. Events that are in order pass as the
 * bytes they came as; only an event that would break an SDK is written anew. On the way the
 * relay learns usage, counts what was generated, and sees to it that the stream has an ending.
 */
import { randomText } from '../../lib/ids.ts'
import { isObject, type JsonObject, member } from '../../lib/json.ts'
import type { Quantities } from '../../lib/units.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import {
  createSseSplitter,
  encodeSseEvent,
  readSseFrame,
  type SseEvent,
  type SseSplitter,
} from '../sse.ts'
import { type ChunkTemplate, learnTemplate, matchTemplate } from './chunk-template.ts'
import { countMessageBytes } from './count-bytes.ts'
import { encodeChatError } from './error.ts'
import { expectStream } from './expect-body.ts'
import { parseChunk } from './parse-chunk.ts'
import { type ReportedError, UPSTREAM_ERROR } from './read-error.ts'
import { readReasoning } from './read-message.ts'
import { readChatUsage } from './read-usage.ts'
import { createRepairState, type RepairState, repairChunk } from './repair-chunk.ts'
import { readArguments } from './tool-calls.ts'

export interface ChatRelayOptions {
  /** Whether the caller asked for the chunk that holds nothing but usage. */
  readonly includeUsage: boolean
  /** Whether the caller asked with `functions` and so expects `function_call`. */
  readonly legacyFunctions?: boolean
  /** Stands in for a missing chunk id; random when absent. */
  readonly id?: string
}

const DONE = 'data: [DONE]\n\n'

/**
 * `finished` is true after `[DONE]`, or at the end of a body that gave a finish reason. A body
 * that ends without either gets an error event: no ending is made up.
 */
export function createChatRelay(options: ChatRelayOptions): Relay {
  return expectStream(new ChatStream(options))
}

class ChatStream implements Relay {
  private readonly includeUsage: boolean
  private readonly splitter: SseSplitter
  private readonly repairs: RepairState
  private template: ChunkTemplate | undefined
  /** The caller's bytes of the push under way. */
  private out: Buffer[] = []
  /** Whether those differ from the upstream's. */
  private changed = false
  private usage: Quantities | undefined
  private outputBytes = 0
  private hasReason = false
  private done = false
  private error: ReportedError | undefined

  constructor({ includeUsage, legacyFunctions = false, id }: ChatRelayOptions) {
    this.includeUsage = includeUsage
    this.repairs = createRepairState({ id: id ?? `chatcmpl-${randomText(22)}`, legacyFunctions })
    this.splitter = createSseSplitter({
      onFrame: (frame) => this.onFrame(frame),
      onOverflow: (piece) => this.onOverflow(piece),
    })
  }

  push(chunk: Buffer): Buffer | undefined {
    const carried = this.splitter.pendingBytes()
    this.out = []
    this.changed = false
    this.splitter.push(chunk)
    const pending = this.splitter.pendingBytes()
    if (!this.changed && carried === 0 && pending < chunk.length) {
      return pending === 0 ? chunk : chunk.subarray(0, chunk.length - pending)
    }
    return this.takeOut()
  }

  end(): Buffer | undefined {
    this.out = []
    this.splitter.end()
    // The last event may lack its blank line; a blank line too many means nothing.
    const last = this.out.at(-1)
    if (last && !isLineEnd(last)) this.write('\n\n')
    if (this.done || this.error) return this.takeOut()
    if (this.hasReason) {
      this.write(DONE)
      this.done = true
    } else {
      this.write(encodeChatError(UPSTREAM_ERROR))
    }
    return this.takeOut()
  }

  fail({ type, message }: RelayFailure): Buffer | undefined {
    if (this.done || this.error) return undefined
    return Buffer.from(encodeChatError({ type, message }))
  }

  report(): RelayReport {
    const { usage, outputBytes, error } = this
    const finished = this.done
    return {
      outputBytes,
      finished,
      ...(usage ? { usage } : {}),
      ...(error ? { error } : {}),
    }
  }

  private onFrame(frame: Buffer): void {
    if (this.done || this.error) {
      // The LF of a CRLF that was cut in two still belongs to the last event.
      if (isLineEnd(frame)) this.out.push(frame)
      else this.changed = true
      return
    }
    const textBytes = this.template ? matchTemplate(this.template, frame) : -1
    if (textBytes !== -1) {
      this.outputBytes += textBytes
      this.out.push(frame)
      return
    }
    const event = readSseFrame(frame)
    if (event) this.onEvent(event, frame)
    else this.out.push(frame)
  }

  /** An event too large to look into passes as it is. */
  private onOverflow(piece: Buffer): void {
    if (this.done || this.error) return
    this.outputBytes += piece.length
    this.out.push(piece)
  }

  /** An upstream that ends without saying why has at least ended on purpose. */
  private onDone(data: string, frame: Buffer): void {
    if (!this.hasReason) this.write(this.encodeMissingReason())
    this.done = true
    if (data === '[DONE]') this.out.push(frame)
    else this.write(DONE)
  }

  private onEvent(event: SseEvent, frame: Buffer): void {
    const read = parseChunk(event)
    if (read.kind === 'chunk') this.onChunk(read.document, frame)
    else if (read.kind === 'done') this.onDone(event.data, frame)
    else this.onError(read.error, isReadableError(read.document) ? frame : undefined)
  }

  /** Passes the upstream's own words on where the SDKs can read them. */
  private onError(error: ReportedError, frame: Buffer | undefined): void {
    this.error = error
    if (frame) this.out.push(frame)
    else this.write(encodeChatError(error))
  }

  private onChunk(chunk: JsonObject, frame: Buffer): void {
    this.usage = readChatUsage(chunk) ?? this.usage
    const choices = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : []
    for (const { delta, finish_reason: reason } of choices) {
      this.outputBytes += countMessageBytes(delta)
      if (typeof reason === 'string' && reason !== '') this.hasReason = true
    }
    const isOnlyUsage = choices.length === 0 && isObject(chunk.usage)
    if (isOnlyUsage && !this.includeUsage) {
      this.changed = true
      return
    }
    const repaired = repairChunk(chunk, this.repairs)
    if (repaired !== chunk) {
      this.write(encodeSseEvent(undefined, JSON.stringify(repaired)))
      return
    }
    this.out.push(frame)
    this.learn(chunk, choices, frame)
  }

  /** Remembers a chunk that holds one piece of text and nothing else. */
  private learn(chunk: JsonObject, choices: readonly JsonObject[], frame: Buffer): void {
    const [choice] = choices
    if (choices.length !== 1 || !choice || choice.finish_reason || chunk.usage) return
    if (!isObject(choice.delta) || isObject(choice.usage)) return
    const text = readOnlyText(choice.delta)
    const isAll = Buffer.byteLength(text) === countMessageBytes(choice.delta)
    if (text !== '' && isAll) this.template = learnTemplate(frame, text) ?? this.template
  }

  private encodeMissingReason(): string {
    const calls = this.repairs.choices.get(0)?.tools.calls.length ?? 0
    const reason = calls > 0 ? 'tool_calls' : 'stop'
    const ending = { choices: [{ index: 0, delta: {}, finish_reason: reason }] }
    return encodeSseEvent(undefined, JSON.stringify(repairChunk(ending, this.repairs)))
  }

  private write(text: string): void {
    this.changed = true
    this.out.push(Buffer.from(text))
  }

  private takeOut(): Buffer | undefined {
    const [first] = this.out
    if (!first) return undefined
    return this.out.length === 1 ? first : Buffer.concat(this.out)
  }
}

/** Content, reasoning, or more arguments of a call that is under way; empty for none of these. */
function readOnlyText(delta: JsonObject): string {
  const { content, tool_calls: calls } = delta
  if (typeof content === 'string' && content !== '') return content
  if (!Array.isArray(calls) || calls.length === 0) return readReasoning(delta)
  const called = member(calls[0], 'function')
  const isOpening = member(calls[0], 'id') || member(called, 'name')
  return calls.length > 1 || isOpening ? '' : readArguments(member(called, 'arguments'))
}

function isLineEnd(frame: Buffer): boolean {
  const [first] = frame
  return frame.length === 1 && (first === 10 || first === 13)
}

/** Whether the SDKs read the error as the upstream put it. */
function isReadableError(document: JsonObject | undefined): boolean {
  return typeof member(document?.error, 'message') === 'string' && !document?.choices
}
