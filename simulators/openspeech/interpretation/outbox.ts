// The server's side of one connection: sends messages in order and at their pace, and plays the
// scenario's faults between them.
import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Exchange } from '../../kernel/exchange.ts'
import { sleep } from '../../kernel/sleep.ts'

/** The fault that was played; the session itself reports `error-mid`. */
export type Struck = 'silenced' | 'gone' | 'error'

export class Outbox {
  private sent = 0
  private last: Promise<void> = Promise.resolve()
  private struckBy: Struck | undefined
  private readonly disconnected = new AbortController()
  private readonly exchange: Exchange
  private readonly connection: WebSocket
  private readonly socket: Socket
  private readonly delayMs: number

  constructor(exchange: Exchange, connection: WebSocket, socket: Socket, timeScale: number) {
    this.exchange = exchange
    this.connection = connection
    this.socket = socket
    this.delayMs = exchange.chunkDelayMs * timeScale
    connection.on('close', () => this.disconnected.abort())
  }

  get struck(): Struck | undefined {
    return this.struckBy
  }

  /** Queues a message; resolves when it was sent, or when nothing is sent any more. */
  send(message: Buffer): Promise<void> {
    this.last = this.last.then(() => this.deliver(message))
    return this.last
  }

  /** Sends at once, regardless of faults: for the message that reports one. */
  sendNow(message: Buffer): void {
    if (this.connection.readyState === this.connection.OPEN) this.connection.send(message)
  }

  /** Ends the connection once everything queued was sent. */
  close(): void {
    void this.last.then(() => this.connection.close(1000))
  }

  private async deliver(message: Buffer): Promise<void> {
    if (this.struckBy || this.disconnected.signal.aborted) return
    if (this.delayMs > 0) await sleep(this.delayMs, this.disconnected.signal)
    this.strike()
    if (this.struckBy || this.disconnected.signal.aborted) return
    const { scenario } = this.exchange
    const bad = scenario.number('bad-message') === this.sent
    this.sent += 1
    const bytes = bad ? message.subarray(0, message.length - 1) : message
    await new Promise<void>((resolve) => this.connection.send(bytes, () => resolve()))
  }

  private strike(): void {
    const { scenario } = this.exchange
    if (scenario.empty) return
    const now = (name: string) => scenario.has(name) && scenario.position(name, 2) <= this.sent
    if (now('reset-mid')) {
      this.struckBy = 'gone'
      this.socket.resetAndDestroy()
    } else if (now('close-mid')) {
      this.struckBy = 'gone'
      this.connection.close(1000)
    } else if (now('stall-mid')) this.struckBy = 'silenced'
    else if (scenario.has('error-mid') && (scenario.number('at') ?? 2) <= this.sent) {
      this.struckBy = 'error'
    }
  }
}
