/**
 * Limits what a WebSocket keeps in memory: messages that have not completely arrived, and those
 * that its peer does not read. A peer that is too slow, or that exceeds its account's share, is
 * disconnected.
 */
import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Portion } from '../../../../base/lib/memory/budget.ts'
import type { Memory } from '../../../../base/lib/memory/memory.ts'
import { FrameLengths } from './frame-lengths.ts'

/** Bytes that may wait for a slow reader; beyond them nothing more is read or produced. */
const WAITING_BYTES_MAX = 1024 * 1024
/**
 * Fewer bytes are not an incomplete message but, for example, answers to pings. A longer frame gets
 * its room in memory before the rest of it is read.
 */
const PARTIAL_BYTES_MIN = 64 * 1024
/** Time for which nothing is read from a peer whose messages are refused. */
const SLOW_MS = 1_000
/** Time for a message to arrive whole, as for the body of a request. */
const ARRIVAL_MS = 60_000
/**
 * The room that a long frame takes at first, which most need: a head of 14 bytes may promise 60 MB.
 * Whenever half of its room has been filled, it takes as much again.
 */
const FIRST_ROOM_BYTES = 8 * 1024 * 1024
/** The longest time that a long frame waits for room. */
const ROOM_WAIT_MS = 20_000
const TOO_LARGE = 'messages of this account are too large together'
const TRY_AGAIN_LATER = 1013

export interface SocketFlowOptions {
  readonly socket: WebSocket
  /** The WebSocket is read from it. */
  readonly connection: Socket
  readonly accountId: string
  readonly memory: Pick<Memory, 'bytes' | 'loop'>
  /** A peer that reads nothing for this long is disconnected. */
  readonly stallMs: number
  /** All messages have left. */
  readonly onDrained: () => void
}

export class SocketFlow {
  private readonly options: SocketFlowOptions
  private readonly leaving: Portion
  private readonly arriving: Portion
  /** Room for long frames, taken before their bytes arrive. */
  private readonly incoming: Portion
  private arrival: NodeJS.Timeout | undefined
  private stall: NodeJS.Timeout | undefined
  private slow: NodeJS.Timeout | undefined
  private isWaiting = false
  private isClosed = false
  private readonly frames = new FrameLengths(PARTIAL_BYTES_MIN, (bytes) => this.onLong(bytes))
  /** Long frames that wait for room. */
  private roomless = 0
  /** The length of the last long frame, and the room that it has. */
  private longBytes = 0
  private roomBytes = 0

  constructor(options: SocketFlowOptions) {
    this.options = options
    const { socket, connection, accountId, memory } = options
    this.leaving = memory.bytes.portion(accountId, 'message')
    this.arriving = memory.bytes.portion(accountId, 'request')
    this.incoming = memory.bytes.portion(accountId, 'incoming')
    // Before the WebSocket reads them, and with them the end of a message.
    connection.prependListener('data', (chunk: Buffer) => this.onBytes(chunk))
    socket.on('message', () => this.onArrived())
    socket.on('close', () => this.onClose())
  }

  /** Sends a message. Returns false if many are waiting. */
  send(text: string): boolean {
    const { socket } = this.options
    if (socket.readyState !== socket.OPEN) return true
    const bytes = Buffer.byteLength(text)
    if (!this.leaving.grow(bytes)) {
      this.cutOff('messages wait to be read')
      return true
    }
    socket.send(text, () => {
      this.leaving.shrink(bytes)
      if (socket.bufferedAmount === 0) this.onDrained()
    })
    if (socket.bufferedAmount < WAITING_BYTES_MAX) return true
    // What it sends may have to be answered.
    socket.pause()
    this.stall ??= setTimeout(() => socket.terminate(), this.options.stallMs)
    return false
  }

  /** Reads nothing for a second. */
  slowDown(): void {
    this.options.socket.pause()
    this.slow ??= setTimeout(() => {
      this.slow = undefined
      this.readOn()
    }, SLOW_MS)
  }

  private onDrained(): void {
    clearTimeout(this.stall)
    this.stall = undefined
    this.readOn()
    this.options.onDrained()
  }

  private readOn(): void {
    const { socket } = this.options
    if (this.stall || this.slow || this.isWaiting || this.roomless > 0) return
    if (socket.isPaused) socket.resume()
  }

  private onBytes(chunk: Buffer): void {
    if (!this.arriving.grow(this.frames.push(chunk))) {
      this.cutOff(TOO_LARGE)
      return
    }
    const needsMore = this.frames.arrivedOfLong() * 2 > this.roomBytes
    if (needsMore && this.roomless === 0) this.takeRoom(this.roomBytes)
    const isLong = this.incoming.amount > 0 || this.roomless > 0
    if (this.arriving.amount < PARTIAL_BYTES_MIN && !isLong) return
    this.countWork(chunk.length)
    this.arrival ??= setTimeout(() => this.cutOff('a message did not arrive in time'), ARRIVAL_MS)
  }

  private onLong(bytes: number): void {
    this.longBytes = bytes
    this.roomBytes = 0
    this.takeRoom(FIRST_ROOM_BYTES)
  }

  /**
   * Takes this much room for the last long frame, or as much as it lacks; reading continues once it
   * has the room.
   */
  private takeRoom(most: number): void {
    const bytes = Math.min(most, this.longBytes - this.roomBytes)
    if (bytes <= 0) return
    const taken = this.incoming.growSoon(bytes, ROOM_WAIT_MS)
    if (typeof taken === 'boolean') {
      this.roomBytes += bytes
      return
    }
    this.roomless += 1
    this.options.socket.pause()
    taken.then((isTaken) => {
      this.roomless -= 1
      this.roomBytes += bytes
      if (this.isClosed) this.incoming.release()
      else if (isTaken) this.readOn()
      else this.cutOff(TOO_LARGE)
    })
  }

  /** Reads nothing while the account has used more of the event loop than its share. */
  private countWork(bytes: number): void {
    const { accountId, memory, socket } = this.options
    if (memory.loop.count(accountId, bytes) || this.isWaiting) return
    this.isWaiting = true
    socket.pause()
    memory.loop.turn(accountId).then(() => {
      this.isWaiting = false
      this.readOn()
    })
  }

  /**
   * From now on the request made of the message counts its bytes; the next message may already have
   * begun.
   */
  private onArrived(): void {
    clearTimeout(this.arrival)
    this.arrival = undefined
    this.arriving.release()
    this.incoming.release()
    if (this.frames.isInLong() && this.roomless === 0) this.incoming.force(this.roomBytes)
  }

  /** Closes the connection with a reason, which does not reach a peer that does not read. */
  private cutOff(reason: string): void {
    const { socket } = this.options
    socket.close(TRY_AGAIN_LATER, reason)
    socket.terminate()
  }

  private onClose(): void {
    clearTimeout(this.stall)
    clearTimeout(this.slow)
    clearTimeout(this.arrival)
    this.isClosed = true
    this.arriving.release()
    this.incoming.release()
    this.leaving.release()
  }
}
