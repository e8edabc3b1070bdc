/**
 * Verb 7: delivers a stream. Bytes are passed on as they arrive, with backpressure. If the caller
 * disconnects, the gateway keeps reading the upstream, which bills its work and states the usage at
 * the end. The last bytes wait until the settlement is committed, so that an answer that the caller
 * has seen complete is in the books.
 */

import type { Context } from '../../../base/http/context.ts'
import { commonHeaders, writePiece } from '../../../base/http/reply.ts'
import { noteWork } from '../../../base/lib/process/loop-watch.ts'
import type { RelayFailure, RelayReport } from '../../../wire/dialects/relay.ts'
import type { Charged } from '../price/charge.ts'
import type { Services } from '../services.ts'
import type { StreamAnswer } from './open-answer.ts'
import { type RelayedEvents, relayEvents } from './relay-events.ts'
import type { StreamTail } from './show-charge.ts'

/** Limits beyond which a stream is cut. */
export interface StreamBounds {
  /** Maximum time from the first byte to the last. */
  readonly totalMs: number
  /** Allowed output tokens; undefined if the output is not counted in tokens. */
  readonly outputTokens?: number | undefined
}

/** A stream that has ended but is not settled yet. */
export interface DeliveredStream {
  readonly report: RelayReport
  /** `complete`: at the protocol's own end; `broken`: without it; `aborted`: by the gateway. */
  readonly end: 'complete' | 'broken' | 'aborted'
  readonly callerGone: boolean
  /** Sends the withheld bytes, with the charge where the stream shows it, and ends the response. */
  readonly release: (charged?: Charged) => void
}

/** Maximum wait for the body's end after the protocol's own end. */
const BODY_END_MS = 250

/** Makes nginx, which buffers answers by default, pass a stream on as it arrives. */
const UNBUFFERED = { 'x-accel-buffering': 'no' }

/** Silence after which the caller gets a heartbeat. */
const HEARTBEAT_MS = 12_000
const EVENT_END = Buffer.from('\n\n')

/** Average content bytes per token, at most. */
const BYTES_PER_TOKEN = 32
/** Bytes of an event with a single token, at most. */
const FRAME_BYTES_PER_TOKEN = 1_024
/**
 * Maximum bytes of a line of an event stream: the last event of some dialects repeats the whole
 * answer, which may contain images.
 */
const LINE_BYTES_MAX = 64 * 1024 * 1024
const LINE_FEED = 0x0a

/** The number of streams that are still read after their callers have disconnected. */
let draining = 0

const INTERRUPTED = { type: 'server_error', message: 'upstream provider error' }
const STOPPING = { type: 'server_error', message: 'the service is restarting, please try again' }

/** Relays a stream to its end. Never rejects, since every end must be settled. */
export function deliverStream(
  context: Context,
  answer: StreamAnswer,
  services: Services,
  bounds: StreamBounds,
  tail?: StreamTail,
): Promise<DeliveredStream> {
  return new Promise((resolve) => {
    new Delivery(context, answer, services, bounds, tail, resolve).start()
  })
}

class Delivery {
  private readonly context: Context
  private readonly answer: StreamAnswer
  private readonly services: Services
  private readonly bounds: StreamBounds
  private readonly tail: StreamTail | undefined
  private readonly isEvents: boolean
  private readonly resolve: (delivered: DeliveredStream) => void
  private readonly leave: () => void
  private withheld: Buffer[] = []
  private callerGone = false
  private isFinished = false
  private drainedBytes = 0
  private bytes = 0
  /** Bytes of an event stream since its last line feed. */
  private lineBytes = 0
  private isDraining = false
  /** The upstream waits for the account's turn. */
  private isWaiting = false
  private stall: NodeJS.Timeout | undefined
  private drain: NodeJS.Timeout | undefined
  private bodyEnd: NodeJS.Timeout | undefined
  private heartbeat: NodeJS.Timeout | undefined
  private total: NodeJS.Timeout | undefined
  /** True if the last bytes ended an event: heartbeats are only valid between events. */
  private isBetweenEvents = false

  constructor(
    context: Context,
    answer: StreamAnswer,
    services: Services,
    bounds: StreamBounds,
    tail: StreamTail | undefined,
    resolve: (delivered: DeliveredStream) => void,
  ) {
    this.context = context
    this.answer = answer
    this.services = services
    this.bounds = bounds
    this.tail = tail
    this.isEvents = answer.headers['content-type']?.startsWith('text/event-stream') ?? false
    this.resolve = resolve
    this.leave = services.inFlight.add({ abort: () => this.abort() })
  }

  start(): void {
    const { response } = this.context
    const { status, headers, body, ended } = this.answer
    response.on('close', this.onCallerGone)
    body.on('data', this.onData).on('end', this.onEnd).on('error', this.onBroken)
    body.on('close', this.onBroken)
    this.total = setTimeout(this.onTotal, this.bounds.totalMs)
    if (this.answer.heartbeat) this.heartbeat = setInterval(this.sendHeartbeat, HEARTBEAT_MS)
    // It may end the delivery at once, so everything that this ends must already exist.
    if (response.destroyed) this.onCallerGone()
    else response.writeHead(status, { ...commonHeaders(this.context), ...UNBUFFERED, ...headers })
    // Called before the first bytes are written, so that bytes which arrived after them are sent
    // together with them.
    body.resume()
    const first = this.answer.takeFirst()
    if (!first.words && !first.end && !this.callerGone) response.flushHeaders()
    this.deliver(first)
    // A short body may have ended or failed before these listeners were added.
    if (ended) this.finish(this.isComplete() ? 'complete' : 'broken')
    else if (body.readableEnded) this.onEnd()
    else if (body.destroyed) this.onBroken()
  }

  private readonly onData = (chunk: Buffer): void => {
    noteWork(this.context)
    const startedAt = performance.now()
    const read = relayEvents(this.answer.relay, chunk)
    try {
      const { held } = this.answer
      if (!held.add(chunk.length, performance.now() - startedAt)) this.waitForTurn()
    } catch (cause) {
      this.cut(cause)
      return
    }
    // The output so far is charged, so the caller gets it.
    this.deliver(read)
    if (read.failure) this.onFailure(read.failure.cause)
    if (this.callerGone) {
      this.drainedBytes += chunk.length
      if (this.drainedBytes > this.services.limits.drainBytes) this.finish('aborted')
    }
    if (!this.isFinished && this.isTooMuch(chunk)) this.cut()
  }

  /** Lets the upstream wait while the account has used more of the event loop than its share. */
  private waitForTurn(): void {
    if (this.isWaiting) return
    this.isWaiting = true
    this.answer.body.pause()
    this.answer.held.turn().then(() => {
      this.isWaiting = false
      if (!this.stall && !this.isFinished) this.answer.body.resume()
    })
  }

  private readonly onEnd = (): void => {
    try {
      this.withhold(this.answer.relay.end())
    } catch (error) {
      this.onFailure(error)
    }
    this.finish(this.isComplete() ? 'complete' : 'broken')
  }

  /** A failure of the relay ends the stream as broken. */
  private onFailure(error: unknown): void {
    const fields = { request_id: this.context.requestId, error }
    this.services.log.error(fields, 'reading an answer failed')
    this.onBroken()
  }

  private readonly onBroken = (): void => {
    if (this.isFinished) return
    if (this.isComplete()) {
      this.finish('complete')
      return
    }
    this.withhold(this.explain(INTERRUPTED))
    this.finish('broken')
  }

  /** Returns the dialect's error; empty if the relay itself fails. */
  private explain(failure: RelayFailure): Buffer | undefined {
    try {
      return this.answer.relay.fail(failure)
    } catch (error) {
      const fields = { request_id: this.context.requestId, error }
      this.services.log.error(fields, 'ending an answer failed')
      return undefined
    }
  }

  /** Withholds bytes until the settlement, after those that came before. */
  private withhold(bytes: Buffer | undefined): void {
    const kept = bytes && this.tail ? this.tail.push(bytes) : bytes
    if (kept && kept.length > 0) this.withheld.push(kept)
  }

  /** Returns true if the stream is far beyond its limits, or has a line that is too long. */
  private isTooMuch(chunk: Buffer): boolean {
    this.bytes += chunk.length
    if (this.isEvents) {
      const lineEnd = chunk.lastIndexOf(LINE_FEED)
      this.lineBytes = lineEnd === -1 ? this.lineBytes + chunk.length : chunk.length - lineEnd
      if (this.lineBytes > LINE_BYTES_MAX) return true
    }
    const { outputTokens } = this.bounds
    if (outputTokens === undefined) return false
    if (this.bytes > outputTokens * FRAME_BYTES_PER_TOKEN + LINE_BYTES_MAX) return true
    const outputMax = outputTokens * BYTES_PER_TOKEN
    // Output never exceeds the bytes received, so most streams need no report here.
    return this.bytes > outputMax && this.answer.relay.report().outputBytes > outputMax
  }

  /**
   * A caller that stalls its stream is disconnected, and the rest is read without it: otherwise
   * slow reading would hide the usage, which comes last. `drainMs` limits that reading.
   */
  private readonly onTotal = (): void => {
    if (this.stall) this.context.response.destroy()
    else if (!this.callerGone) this.cut()
  }

  /** Ends a stream beyond its limits as broken. */
  private cut(error?: unknown): void {
    const fields = { request_id: this.context.requestId, error }
    this.services.log.warn(fields, 'a stream exceeded its limits')
    this.onBroken()
  }

  /** Returns true after the protocol's own end, without an error of the upstream's. */
  private isComplete(): boolean {
    const { finished, error } = this.answer.relay.report()
    return finished && error === undefined
  }

  private deliver({ words, end }: RelayedEvents): void {
    if (this.callerGone) return
    const { facts } = this.context
    if (facts.firstOutputAt === undefined && this.answer.relay.report().outputBytes > 0) {
      facts.firstOutputAt = performance.now()
    }
    if (words) this.pass(words)
    if (!end) return
    this.withhold(end)
    this.bodyEnd ??= setTimeout(() => this.finish('complete'), BODY_END_MS)
  }

  private pass(bytes: Buffer): void {
    const { response } = this.context
    const ready = this.tail ? this.tail.push(bytes) : bytes
    if (ready.length > 0) this.write(ready)
    if (this.stall === undefined && !this.tail) return
    try {
      this.answer.held.setLeaving(response.writableLength + (this.tail?.heldBytes() ?? 0))
    } catch (error) {
      // The rest is read without the caller, since the usage comes last.
      const fields = { request_id: this.context.requestId, error }
      this.services.log.warn(fields, 'too much data waits for a slow reader: disconnecting it')
      response.destroy()
    }
  }

  private write(bytes: Buffer): void {
    const { response } = this.context
    this.isBetweenEvents = bytes.subarray(-EVENT_END.length).equals(EVENT_END)
    this.heartbeat?.refresh()
    if (writePiece(response, bytes)) return
    this.answer.body.pause()
    response.once('drain', this.onDrain)
    this.stall ??= setTimeout(() => response.destroy(), this.services.limits.clientStallMs)
  }

  private readonly sendHeartbeat = (): void => {
    const { heartbeat } = this.answer
    if (!heartbeat || !this.isBetweenEvents || this.callerGone) return
    writePiece(this.context.response, heartbeat)
  }

  private readonly onDrain = (): void => {
    clearTimeout(this.stall)
    this.stall = undefined
    this.answer.held.setLeaving(0)
    if (!this.isWaiting) this.answer.body.resume()
  }

  private readonly onCallerGone = (): void => {
    if (this.isFinished || this.callerGone) return
    this.callerGone = true
    clearTimeout(this.stall)
    this.stall = undefined
    this.answer.held.setLeaving(0)
    const { drainMs, drainSlots } = this.services.limits
    if (this.answer.stopsOnCancel || draining >= drainSlots) {
      this.finish('aborted')
      return
    }
    draining += 1
    this.isDraining = true
    this.drain = setTimeout(() => this.finish('aborted'), drainMs)
    if (!this.isWaiting) this.answer.body.resume()
  }

  private abort(): void {
    if (this.isFinished) return
    this.withhold(this.explain(STOPPING))
    this.finish('aborted')
  }

  private finish(end: DeliveredStream['end']): void {
    if (this.isFinished) return
    this.isFinished = true
    for (const timer of [this.stall, this.drain, this.bodyEnd, this.heartbeat, this.total])
      clearTimeout(timer)
    if (this.isDraining) draining -= 1
    const { body, relay } = this.answer
    body.off('data', this.onData).off('end', this.onEnd)
    if (!body.destroyed) body.destroy()
    const { response } = this.context
    response.off('drain', this.onDrain)
    this.resolve({
      report: relay.report(),
      end,
      callerGone: this.callerGone,
      release: (charged) => {
        response.off('close', this.onCallerGone)
        this.leave()
        if (response.destroyed) return
        if (this.tail) this.withheld.push(this.tail.end(charged))
        if (end !== 'complete' && this.answer.cutsWhenBroken) response.destroy()
        else response.end(this.withheld.length > 0 ? Buffer.concat(this.withheld) : undefined)
      },
    })
  }
}
