/**
 * One HTTP exchange with an upstream: the handler of a request, and the body of its response.
 *
 * The client's own `request` assigns an arrow function to a property for each request. Node's
 * engine allocates such functions among the old objects, so everything they refer to, including the
 * whole response, stays in memory until the next full garbage collection.
 */
import { Readable } from 'node:stream'
import { type Dispatcher, errors } from 'undici'
import type { WireRequest, WireResponse, WireRoom } from '../../../wire/upstreams/wire.ts'
import type { Deadline } from './deadline.ts'
import { findCredentials, mask } from './mask-credentials.ts'

/** Unread bytes of a response beyond which its connection is paused. */
const UNREAD_BYTES_MAX = 64 * 1024
/** Pieces of a response that arrive together are joined up to this size. */
const JOINED_BYTES_MAX = 16 * 1024
/** Pieces at the end of a read that are not joined, unless they are events, which have ends. */
const ALONE = 2
const EVENTS = /^text\/event-stream/i

export interface ExchangeTimes {
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  /** The end of the exchange, the complete response included. */
  readonly deadline: Deadline
}

export interface ExchangeOptions extends ExchangeTimes {
  /** For the response. */
  readonly room?: WireRoom | undefined
}

/** The time of an exchange is over. */
export class ExchangeTimeout extends Error {}

/**
 * Sends a request. Resolves with the response head; its body fails if the connection does. Rejects
 * with the client's error, or with ExchangeTimeout.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: WireRequest,
  times: ExchangeOptions,
): Promise<WireResponse> {
  const { origin, path } = targetOf(request.url)
  return new Promise((resolve, reject) => {
    const handler = new ExchangeHandler(request, times.room, { resolve, reject })
    handler.endAt(times.deadline)
    dispatcher.dispatch(
      {
        origin,
        path,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        headersTimeout: times.firstByteTimeoutMs,
        bodyTimeout: times.idleTimeoutMs,
      },
      handler,
    )
  })
}

interface Target {
  readonly origin: string
  readonly path: string
}

/** A channel's calls have few addresses; those with an id of a vendor's make room for others. */
const TARGETS_MAX = 1_000
const targets = new Map<string, Target>()

/** Parses an address, which costs more than a look-up. Throws a TypeError if it is invalid. */
function targetOf(address: string): Target {
  let target = targets.get(address)
  if (!target) {
    const { origin, pathname, search } = new URL(address)
    target = { origin, path: pathname + search }
    if (targets.size >= TARGETS_MAX) targets.clear()
    targets.set(address, target)
  }
  return target
}

interface Settle {
  readonly resolve: (response: WireResponse) => void
  readonly reject: (error: unknown) => void
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  private readonly settle: Settle
  private readonly sent: WireRequest['body']
  private readonly credentials: readonly Buffer[]
  private readonly room: WireRoom | undefined
  private controller: Dispatcher.DispatchController | undefined
  private body: ResponseBody | undefined
  private unwatch: () => void = ignore
  private timeout: ExchangeTimeout | undefined

  constructor(request: WireRequest, room: WireRoom | undefined, settle: Settle) {
    this.settle = settle
    this.room = room
    this.sent = request.body
    this.credentials = findCredentials(request.headers)
  }

  endAt(deadline: Deadline): void {
    this.unwatch = deadline.watch(() => {
      this.timeout = new ExchangeTimeout('the exchange took too long')
      if (this.body) {
        this.body.destroy(this.timeout)
        return
      }
      // At once: a request that waits for a connection has no controller yet.
      this.settle.reject(this.timeout)
      this.controller?.abort(this.timeout)
    })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.timeout) controller.abort(this.timeout)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: WireResponse['headers'],
  ): void {
    if (status < 200) return
    const alone = EVENTS.test(String(headers['content-type'])) ? 0 : ALONE
    this.body = new ResponseBody(controller, this.credentials, alone)
    this.settle.resolve({ status, headers, body: this.body, room: this.room })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { body } = this
    if (body && !body.destroyed && !body.add(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    this.unwatch()
    this.body?.end()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.unwatch()
    this.settle.reject(error)
    this.body?.fail(error)
    if (this.sent instanceof Readable) this.sent.on('error', ignore).destroy(error)
  }
}

/**
 * Destroyed before its end, it closes the connection and fails, as the client's own body does. If
 * its reader has paused when the connection breaks, data that had already arrived is read before
 * the error: the client's own body would drop it, together with any usage that the vendor has
 * stated.
 *
 * A vendor sends each event of a stream as a chunk of HTTP, and under load one read of the
 * connection brings many. They are joined and passed on once all of that read has arrived: before
 * any other work, but at the cost of a single event.
 */
class ResponseBody extends Readable {
  private readonly controller: Dispatcher.DispatchController
  private readonly credentials: readonly Buffer[]
  private readonly alone: number
  private failure: Error | undefined
  /** Pieces that the current read has brought so far. */
  private pieces: Buffer[] = []
  private piecesBytes = 0
  private isScheduled = false
  /** See hasArrived. */
  hasArrived = false

  constructor(
    controller: Dispatcher.DispatchController,
    credentials: readonly Buffer[],
    alone: number,
  ) {
    super({ highWaterMark: UNREAD_BYTES_MAX })
    this.controller = controller
    this.credentials = credentials
    this.alone = alone
    // It may fail before its reader adds a listener, or after the last one is gone.
    this.on('error', ignore)
  }

  /** Adds a piece of the current read. Returns false if the connection should pause. */
  add(piece: Buffer): boolean {
    if (this.piecesBytes + piece.length > JOINED_BYTES_MAX) this.pass()
    this.pieces.push(piece)
    this.piecesBytes += piece.length
    const unreadBytes = this.readableLength + this.piecesBytes
    if (piece.length > JOINED_BYTES_MAX || unreadBytes >= UNREAD_BYTES_MAX) return this.pass()
    if (!this.isScheduled) process.nextTick(passRead, this)
    this.isScheduled = true
    return true
  }

  /** Passes on all of the current read. An exception in the reader ends the exchange. */
  passRead(): void {
    this.isScheduled = false
    try {
      if (!this.pass()) this.controller.pause()
    } catch (error) {
      this.controller.abort(error instanceof Error ? error : new Error('unreadable'))
    }
  }

  /**
   * Passes on what has been added. The last two pieces of what is not an event stream are passed on
   * separately: one of them may be the protocol's end, which is withheld from the caller, and
   * nothing before it should wait with it. Returns false if the connection should pause.
   */
  private pass(): boolean {
    const { pieces } = this
    const [only] = pieces
    if (!only || this.destroyed) return true
    this.pieces = []
    this.piecesBytes = 0
    const whole = mask(pieces.length === 1 ? only : Buffer.concat(pieces), this.credentials)
    if (this.alone === 0) return this.push(whole)
    const alone = pieces.slice(-this.alone)
    let end = whole.length - alone.reduce((sum, { length }) => sum + length, 0)
    let isReady = end === 0 || this.push(whole.subarray(0, end))
    for (const { length } of alone) {
      if (this.destroyed) return true
      isReady = this.push(whole.subarray(end, end + length))
      end += length
    }
    return isReady
  }

  end(): void {
    this.pass()
    this.hasArrived = true
    this.push(null)
  }

  /** The connection broke. */
  fail(error: Error): void {
    this.passRead()
    this.failure = error
    // A reader that waits for more bytes than have arrived would wait forever.
    const isWaiting = this.listenerCount('readable') > 0
    if (isWaiting || !this.isPaused() || this.readableLength === 0) this.failSoon()
  }

  override read(size?: number): Buffer | null {
    const chunk: Buffer | null = super.read(size)
    if (this.failure && this.readableLength === 0) this.failSoon()
    return chunk
  }

  override _read(): void {
    this.controller.resume()
  }

  /** Fails after the events of data that has already arrived. */
  private failSoon(): void {
    queueMicrotask(() => this.destroy(this.failure))
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    const cause = error ?? (this.readableEnded ? null : new errors.RequestAbortedError())
    if (!cause) {
      callback(null)
      return
    }
    this.controller.abort(cause)
    // Whoever awaits the response adds listeners after this turn.
    setImmediate(callback, cause)
  }
}

function passRead(body: ResponseBody): void {
  body.passRead()
}

function ignore(): void {}
