/**
 * Verb 7: hand the answer over. Bytes go out as they come, with back-pressure; a caller that
 * leaves does not stop the upstream, because its usage is owed and only its end tells it. The
 * last bytes wait until the settlement is committed: what a caller saw completed is in the books.
 */

import type { RelayReport } from '../../dialects/relay.ts'
import type { Context } from '../../http/context.ts'
import { commonHeaders } from '../../http/reply.ts'
import type { Services } from '../services.ts'
import type { StreamAnswer } from './open-answer.ts'

/** What a stream may come to before it is cut. */
export interface StreamBounds {
  /** From its first byte to its last. */
  readonly totalMs: number
  /** Output tokens that were allowed; undefined where output is not counted in tokens. */
  readonly outputTokens?: number | undefined
}

/** How a stream came to its end, before it is settled. */
export interface Delivered {
  readonly report: RelayReport
  /** complete: the protocol's own end; broken: without it; aborted: we ended it. */
  readonly end: 'complete' | 'broken' | 'aborted'
  readonly callerGone: boolean
  /** Sends what was held back and ends the response. */
  readonly release: () => void
}

/** An upstream that has said its last word is not waited for longer than this. */
const LINGER_MS = 250

/** A caller that hears nothing for so long gets a sign of life. */
const HEARTBEAT_MS = 12_000
const EVENT_END = Buffer.from('\n\n')

/** Content of one token: none is longer on the average of an answer. */
const BYTES_PER_TOKEN = 32
/** An event may bring a single token, with all that vendors put around it. */
const FRAME_BYTES_PER_TOKEN = 1_024
/**
 * The last event of some dialects repeats the whole answer, which may hold images; a line of an
 * event stream that is longer is none.
 */
const ENDING_BYTES = 64 * 1024 * 1024
const LINE_FEED = 0x0a

/** Callers that left and whose upstreams are still read, over all calls. */
let draining = 0

const INTERRUPTED = { type: 'server_error', message: 'upstream provider error' }
const STOPPING = { type: 'server_error', message: 'the service is restarting, please try again' }

/** Pumps a stream to its end. Never rejects: however it ends, it must be settled. */
export function deliverStream(
  context: Context,
  answer: StreamAnswer,
  services: Services,
  bounds: StreamBounds,
): Promise<Delivered> {
  return new Promise((resolve) => new Delivery(context, answer, services, bounds, resolve).start())
}

class Delivery {
  private readonly context: Context
  private readonly answer: StreamAnswer
  private readonly services: Services
  private readonly bounds: StreamBounds
  private readonly isEvents: boolean
  private readonly resolve: (delivered: Delivered) => void
  private readonly leave: () => void
  private held: Buffer[] = []
  private gone = false
  private over = false
  private drainedBytes = 0
  private bytes = 0
  /** Bytes since the last line end, of an event stream. */
  private lineBytes = 0
  private isDraining = false
  private stall: NodeJS.Timeout | undefined
  private drain: NodeJS.Timeout | undefined
  private linger: NodeJS.Timeout | undefined
  private heartbeat: NodeJS.Timeout | undefined
  private total: NodeJS.Timeout | undefined
  /** Whether the last bytes ended an event: only there may a heartbeat stand. */
  private isBetweenEvents = false

  constructor(
    context: Context,
    answer: StreamAnswer,
    services: Services,
    bounds: StreamBounds,
    resolve: (delivered: Delivered) => void,
  ) {
    this.context = context
    this.answer = answer
    this.services = services
    this.bounds = bounds
    this.isEvents = answer.headers['content-type']?.startsWith('text/event-stream') ?? false
    this.resolve = resolve
    this.leave = services.inFlight.add({ abort: () => this.abort() })
  }

  start(): void {
    const { response } = this.context
    const { status, headers, body, ended } = this.answer
    response.on('close', this.onCallerGone)
    if (response.destroyed) this.onCallerGone()
    else response.writeHead(status, { ...commonHeaders(this.context), ...headers })
    body.on('data', this.onData).on('end', this.onEnd).on('error', this.onBroken)
    body.on('close', this.onBroken)
    this.total = setTimeout(() => this.cut(), this.bounds.totalMs)
    if (this.answer.heartbeat) this.heartbeat = setInterval(this.beat, HEARTBEAT_MS)
    const first = this.answer.takeFirst()
    if (first && !this.gone) this.pass(first)
    // A short body can have ended, or broken, before these listeners were there.
    if (ended) this.finish(this.isComplete() ? 'complete' : 'broken')
    else if (body.readableEnded) this.onEnd()
    else if (body.destroyed) this.onBroken()
    else if (!this.stall) body.resume()
  }

  private readonly onData = (chunk: Buffer): void => {
    const out = this.read(() => this.answer.relay.push(chunk))
    if (this.over) return
    if (this.isTooMuch(chunk)) {
      this.cut()
      return
    }
    if (this.gone) {
      this.drainedBytes += chunk.length
      if (this.drainedBytes > this.services.limits.drainBytes) this.finish('aborted')
    } else if (out && out.length > 0) {
      this.pass(out)
    }
  }

  private readonly onEnd = (): void => {
    const rest = this.read(() => this.answer.relay.end())
    if (this.over) return
    if (rest && rest.length > 0) this.held.push(rest)
    this.finish(this.isComplete() ? 'complete' : 'broken')
  }

  /** What a relay cannot read ends like what breaks off. */
  private read(relay: () => Buffer | undefined): Buffer | undefined {
    try {
      return relay()
    } catch (error) {
      const fields = { request_id: this.context.requestId, error }
      this.services.log.error(fields, 'an answer that cannot be read')
      this.onBroken()
      return undefined
    }
  }

  private readonly onBroken = (): void => {
    if (this.over) return
    if (this.isComplete()) {
      this.finish('complete')
      return
    }
    const last = this.answer.relay.fail(INTERRUPTED)
    if (last) this.held.push(last)
    this.finish('broken')
  }

  /** Whether the stream is far past what it may come to, or has stopped to be one. */
  private isTooMuch(chunk: Buffer): boolean {
    this.bytes += chunk.length
    if (this.isEvents) {
      const lineEnd = chunk.lastIndexOf(LINE_FEED)
      this.lineBytes = lineEnd === -1 ? this.lineBytes + chunk.length : chunk.length - lineEnd
      if (this.lineBytes > ENDING_BYTES) return true
    }
    const { outputTokens } = this.bounds
    if (outputTokens === undefined) return false
    if (this.bytes > outputTokens * FRAME_BYTES_PER_TOKEN + ENDING_BYTES) return true
    const outputMost = outputTokens * BYTES_PER_TOKEN
    // Content is never more than the bytes that brought it: most streams end the question here.
    return this.bytes > outputMost && this.answer.relay.report().outputBytes > outputMost
  }

  /** What goes on for too long ends like what breaks off: the caller is told, and nothing more. */
  private cut(): void {
    this.services.log.warn({ request_id: this.context.requestId }, 'a stream is cut')
    this.onBroken()
  }

  /** The protocol's own ending without an error of the upstream's. */
  private isComplete(): boolean {
    const { finished, error } = this.answer.relay.report()
    return finished && error === undefined
  }

  private pass(bytes: Buffer): void {
    if (this.answer.relay.report().finished) {
      this.held.push(bytes)
      this.linger ??= setTimeout(() => this.finish('complete'), LINGER_MS)
      return
    }
    const { response } = this.context
    this.isBetweenEvents = bytes.subarray(-EVENT_END.length).equals(EVENT_END)
    this.heartbeat?.refresh()
    if (response.write(bytes)) return
    this.answer.body.pause()
    response.once('drain', this.onDrain)
    this.stall ??= setTimeout(() => response.destroy(), this.services.limits.clientStallMs)
  }

  private readonly beat = (): void => {
    const { heartbeat } = this.answer
    if (heartbeat && this.isBetweenEvents && !this.gone) this.context.response.write(heartbeat)
  }

  private readonly onDrain = (): void => {
    clearTimeout(this.stall)
    this.stall = undefined
    this.answer.body.resume()
  }

  private readonly onCallerGone = (): void => {
    if (this.over || this.gone) return
    this.gone = true
    clearTimeout(this.stall)
    this.stall = undefined
    const { drainMs, drainSlots } = this.services.limits
    if (this.answer.stopsOnCancel || draining >= drainSlots) {
      this.finish('aborted')
      return
    }
    draining += 1
    this.isDraining = true
    this.drain = setTimeout(() => this.finish('aborted'), drainMs)
    this.answer.body.resume()
  }

  private abort(): void {
    if (this.over) return
    const last = this.answer.relay.fail(STOPPING)
    if (last) this.held.push(last)
    this.finish('aborted')
  }

  private finish(end: Delivered['end']): void {
    if (this.over) return
    this.over = true
    for (const timer of [this.stall, this.drain, this.linger, this.heartbeat, this.total])
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
      callerGone: this.gone,
      release: () => {
        response.off('close', this.onCallerGone)
        this.leave()
        if (response.destroyed) return
        if (end !== 'complete' && this.answer.cutsWhenBroken) response.destroy()
        else response.end(this.held.length > 0 ? Buffer.concat(this.held) : undefined)
      },
    })
  }
}
