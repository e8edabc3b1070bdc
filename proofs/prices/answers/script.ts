/** The pieces that the vendor writes to the socket. */

export interface Wait {
  readonly waitMs: number
}

/** `reset` destroys the connection instead of ending it. */
export type Piece = Buffer | Wait | 'reset'

export interface Script {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly pieces: Iterable<Piece>
}

const JSON_HEADERS = { 'content-type': 'application/json' }
export const EVENT_HEADERS = { 'content-type': 'text/event-stream' }

export function jsonScript(document: unknown, status = 200): Script {
  return { status, headers: JSON_HEADERS, pieces: [Buffer.from(JSON.stringify(document))] }
}

export function dataEvent(data: unknown): Buffer {
  return Buffer.from(`data: ${JSON.stringify(data)}\n\n`)
}

export function namedEvent(name: string, data: unknown): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
}

/** More than a gateway reads of a line, and all buffers on the way. */
const ENDLESS_BYTES = 128 * 1024 * 1024

/** Yields bytes without an end of line until the reader gives up. */
export function* endlessLine(head: Buffer): Generator<Piece> {
  yield head
  const piece = Buffer.alloc(64 * 1024, 'x')
  for (let sent = 0; sent < ENDLESS_BYTES; sent += piece.length) yield piece
}

/** Yields valid output events far beyond any limit. */
export function* flood(): Generator<Piece> {
  const choices = [{ index: 0, delta: { content: 'river '.repeat(10_000) }, finish_reason: null }]
  const event = dataEvent({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices })
  for (let sent = 0; sent < 40 * 1024 * 1024; sent += event.length) yield event
}

/** Yields one byte at a time, slower than any reader should wait for, but never idle. */
export function* drip(document: Buffer, everyMs: number, mostMs: number): Generator<Piece> {
  for (let at = 0; at * everyMs < mostMs; at += 1) {
    yield Buffer.from([document[at % document.length] ?? 0x20])
    yield { waitMs: everyMs }
  }
  yield 'reset'
}
