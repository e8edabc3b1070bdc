/**
 * Takes the rows of a COPY from the connection itself. The client (postgres 3.4) makes three
 * buffers of each row and copies all that it reads, garbage that costs as much as the rest of
 * receiving; a row that is taken here is read where it arrived, and the memory is freed at once.
 */
import type { Socket } from 'node:net'
import type { Sql, TransactionSql } from 'postgres'
import { freeBuffer } from '../../lib/memory/free-buffer.ts'

/** Receives a row, which is only there during the call. */
export type OnRow = (bytes: Buffer, start: number, end: number) => void

/** The type of a message and its length, which does not count the type. */
const HEAD_BYTES = 5
const COPY_OUT_RESPONSE = 'H'.charCodeAt(0)
const COPY_DATA = 'd'.charCodeAt(0)
const ENDS: ReadonlySet<number> = new Set([...'cE'].map((type) => type.charCodeAt(0)))

const sockets = new WeakMap<Sql, Socket>()
const clients = new WeakMap<TransactionSql, Sql>()

/** Notes the socket of a client that has one connection. */
export function noteSocket(client: Sql, socket: Socket): void {
  sockets.set(client, socket)
}

/** Notes the client, of one connection, that a transaction belongs to. */
export function noteClient(transaction: TransactionSql, client: Sql): void {
  clients.set(transaction, client)
}

/**
 * Passes on the rows of the next COPY of a transaction, until the returned function is called. The
 * client gets everything else. Takes nothing, so that the client gets the rows too, if the answer
 * does not begin as expected, or the transaction is of another client.
 */
export function takeRows(transaction: TransactionSql, onRow: OnRow): () => void {
  const client = clients.get(transaction)
  const socket = client && sockets.get(client)
  if (!socket) return () => undefined
  const emit = socket.emit
  const messages = new Messages(onRow, (bytes) => emit.call(socket, 'data', bytes))
  socket.emit = (event: string | symbol, ...values: unknown[]) => {
    const [chunk] = values
    if (event !== 'data' || !Buffer.isBuffer(chunk)) return emit.call(socket, event, ...values)
    try {
      messages.read(chunk)
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
    return true
  }
  return () => {
    socket.emit = emit
    messages.stop()
  }
}

class Messages {
  private readonly onRow: OnRow
  private readonly pass: (bytes: Buffer) => void
  private state: 'before' | 'rows' | 'after' = 'before'
  /** A message of which only the first bytes have arrived; its head alone until that is known. */
  private part: Buffer | undefined
  private filled = 0

  constructor(onRow: OnRow, pass: (bytes: Buffer) => void) {
    this.onRow = onRow
    this.pass = pass
  }

  read(chunk: Buffer): void {
    // Anything else first, such as a notice, would leave unknown where a later message begins.
    if (this.state === 'before') this.state = chunk[0] === COPY_OUT_RESPONSE ? 'rows' : 'after'
    let at = 0
    while (at < chunk.length && this.state === 'rows') {
      at = this.part ? this.fill(this.part, chunk, at) : this.take(chunk, at)
    }
    if (at < chunk.length) this.pass(chunk.subarray(at))
    else freeBuffer(chunk)
  }

  /** Passes on what has arrived of an incomplete message. */
  stop(): void {
    const arrived = this.part?.subarray(0, this.filled)
    this.part = undefined
    this.state = 'after'
    if (arrived) this.pass(arrived)
  }

  /** Reads a message, or its beginning. Returns where it ends. */
  private take(chunk: Buffer, at: number): number {
    const isKnown = chunk.length - at >= HEAD_BYTES
    const length = isKnown ? 1 + chunk.readUInt32BE(at + 1) : HEAD_BYTES
    if (at + length <= chunk.length) {
      this.deliver(chunk, at, at + length)
      return at + length
    }
    this.part = Buffer.allocUnsafe(length)
    this.filled = chunk.copy(this.part, 0, at)
    return chunk.length
  }

  /** Adds to an incomplete message. Returns where its bytes in the chunk end. */
  private fill(part: Buffer, chunk: Buffer, at: number): number {
    const added = chunk.copy(part, this.filled, at)
    this.filled += added
    if (this.filled < part.length) return chunk.length
    const length = 1 + part.readUInt32BE(1)
    this.part = length > part.length ? Buffer.concat([part], length) : undefined
    if (!this.part) this.deliver(part, 0, length)
    return at + added
  }

  private deliver(bytes: Buffer, start: number, end: number): void {
    const type = bytes[start] ?? 0
    if (ENDS.has(type)) this.state = 'after'
    if (type === COPY_DATA) this.onRow(bytes, start + HEAD_BYTES, end)
    // The client may keep it, and the memory is freed.
    else this.pass(Buffer.from(bytes.subarray(start, end)))
  }
}
