/**
 * A Responses stream passed on to a caller of the same dialect. Whole events pass as the bytes
 * they came as; the last one tells usage; a stream that ends without its last event gets one,
 * because clients that see none repeat the request and hide the reason.
 */
import { isObject, type JsonObject, member } from '../../lib/json.ts'
import type { Quantities } from '../../lib/units.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { createSseSplitter, readSseFrame, type SseSplitter } from '../sse.ts'
import { encodeFailedEvent } from './encode-failed.ts'
import { countDeltaBytes, readEventData, readEventType } from './read-event.ts'
import {
  countItemBytes,
  type ResponseError,
  readResponseError,
  readResponseUsage,
  UPSTREAM_ERROR,
} from './read-response.ts'

/** The last event repeats the whole answer, which may hold images: more than other dialects'. */
const EVENT_LIMIT_BYTES = 8 * 1024 * 1024

const BLANK_LINE = Buffer.from('\n\n')

const ENDINGS = new Set(['response.completed', 'response.incomplete', 'response.failed'])

export function createResponsesTap(): Relay {
  const tap = new ResponsesTap()
  return {
    push: (chunk) => tap.push(chunk),
    end: () => tap.end(),
    fail: (failure) => tap.fail(failure),
    report: () => tap.report(),
  }
}

class ResponsesTap {
  private readonly splitter: SseSplitter
  /** Whole events of the push under way. */
  private out: Buffer[] = []
  /** The response as `response.created` tells it: an appended ending must be of the same one. */
  private response: JsonObject | undefined
  /** The last event, for its sequence number. */
  private lastFrame: Buffer | undefined
  /** The bytes that went out last belong to an event that has not ended. */
  private isInsideOverflow = false
  private usage: Quantities | undefined
  private outputBytes = 0
  private finished = false
  /** We have said the last event in the upstream's place. */
  private isClosed = false
  private error: ResponseError | undefined

  constructor() {
    this.splitter = createSseSplitter({
      onFrame: (frame) => this.onFrame(frame),
      onOverflow: (piece) => this.onOverflow(piece),
      limitBytes: EVENT_LIMIT_BYTES,
    })
  }

  push(chunk: Buffer): Buffer | undefined {
    const carried = this.splitter.pendingBytes()
    this.out = []
    this.splitter.push(chunk)
    const pending = this.splitter.pendingBytes()
    if (carried === 0 && pending < chunk.length) {
      return pending === 0 ? chunk : chunk.subarray(0, chunk.length - pending)
    }
    return this.takeOut()
  }

  end(): Buffer | undefined {
    this.out = []
    const before = this.lastFrame
    this.splitter.end()
    const tail = this.out.at(-1)
    if (tail && isBroken(tail)) {
      // Half an event: what a client made of it would hide the ending that follows.
      this.out.pop()
      this.lastFrame = before
    } else if (tail && !isLineEnd(tail)) {
      this.out.push(BLANK_LINE)
    }
    if (!this.finished && !this.isClosed) this.appendFailed(this.error ?? UPSTREAM_ERROR)
    return this.takeOut()
  }

  fail({ type, message }: RelayFailure): Buffer | undefined {
    this.out = []
    if (!this.finished && !this.isClosed) this.appendFailed(this.error ?? { type, message })
    return this.takeOut()
  }

  report(): RelayReport {
    const { usage, outputBytes, finished, error } = this
    return { outputBytes, finished, ...(usage ? { usage } : {}), ...(error ? { error } : {}) }
  }

  private onFrame(frame: Buffer): void {
    this.out.push(frame)
    this.isInsideOverflow = false
    if (this.finished) return
    const type = readEventType(frame)
    if (type !== '') this.lastFrame = frame
    if (type.endsWith('.delta')) this.outputBytes += countDeltaBytes(frame)
    else if (ENDINGS.has(type)) this.onEnding(type, frame)
    else if (type === 'response.created') this.onCreated(frame)
    else if (type === 'response.output_item.done') this.onItem(frame)
    else if (type === 'error' || type === '') this.onError(frame)
  }

  /** An event too large to look into passes as it is; its beginning tells what it was. */
  private onOverflow(piece: Buffer): void {
    this.out.push(piece)
    if (this.isInsideOverflow || this.finished) return
    this.isInsideOverflow = true
    const type = readEventType(piece)
    this.finished = ENDINGS.has(type)
    if (type === 'response.failed') this.error = UPSTREAM_ERROR
  }

  private onCreated(frame: Buffer): void {
    const response = member(readEventData(frame), 'response')
    if (isObject(response)) this.response = response
  }

  /** Vendors without deltas say everything here. */
  private onItem(frame: Buffer): void {
    if (this.outputBytes === 0) {
      this.outputBytes = countItemBytes(member(readEventData(frame), 'item'))
    }
  }

  private onEnding(type: string, frame: Buffer): void {
    const response = member(readEventData(frame), 'response')
    this.finished = true
    this.usage = readResponseUsage(response) ?? this.usage
    if (type === 'response.failed') {
      this.error = readResponseError(member(response, 'error')) ?? UPSTREAM_ERROR
    }
  }

  /** `event: error`, typed or flat, or data that holds nothing but an error (ARK). */
  private onError(frame: Buffer): void {
    const data = readEventData(frame)
    if (data === undefined) return
    const nested = readResponseError(data.error)
    this.error = nested ?? (data.type === 'error' ? readResponseError(data) : this.error)
  }

  private appendFailed(error: ResponseError): void {
    const last = this.lastFrame && member(readEventData(this.lastFrame), 'sequence_number')
    const text = encodeFailedEvent({
      error,
      response: this.response,
      sequenceNumber: typeof last === 'number' ? last + 1 : 0,
    })
    if (this.isInsideOverflow) this.out.push(BLANK_LINE)
    this.out.push(Buffer.from(text))
    this.isClosed = true
  }

  private takeOut(): Buffer | undefined {
    const [first] = this.out
    return this.out.length > 1 ? Buffer.concat(this.out) : first
  }
}

/** True for an event whose JSON was cut. */
function isBroken(frame: Buffer): boolean {
  const event = readSseFrame(frame)
  return event !== undefined && event.data.trim() !== '[DONE]' && !readEventData(frame)
}

/** The LF of a CRLF that was cut in two stands alone. */
function isLineEnd(frame: Buffer): boolean {
  return frame.length === 1 && (frame[0] === 0x0a || frame[0] === 0x0d)
}
