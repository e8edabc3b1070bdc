/**
 * Server-sent events as bytes. The splitter finds where one event ends and the next begins, at
 * any chunking, without decoding: a pass-through relay needs no more. The parser on top of it
 * decodes whole events, so that no UTF-8 character is ever cut. Both are linear in the bytes and
 * hold at most one event of limited size.
 */

import { Slabs } from '../../base/lib/memory/slabs.ts'

/** One event. `data` is the content of its `data:` lines, joined by line feeds. */
export interface SseEvent {
  /** The `event:` field, or `message` when there is none. */
  readonly event: string
  readonly data: string
}

export interface SseSplitter {
  /** Feeds bytes. Calls the handlers for every event that ends in them, in order. */
  push(chunk: Buffer): void
  /** The body ended: an event without its closing blank line is passed on as it is. */
  end(): void
  /** Bytes of an unfinished event that are held back. */
  pendingBytes(): number
  /** Bytes of memory for the bytes held back. */
  heldBytes(): number
}

export interface SseSplitterOptions {
  /** All bytes of one event, line ends included. Joined, the frames are the body. */
  readonly onFrame: (frame: Buffer) => void
  /**
   * Bytes of an event that is larger than the limit, in one or more pieces. Without a handler
   * they are dropped. Such an event never reaches `onFrame`.
   */
  readonly onOverflow?: (piece: Buffer, isLast: boolean) => void
  /**
   * Called where an event begins. Returns the end of the whole events from there on that it has
   * dealt with, whose lines end in LF or CRLF: they never reach `onFrame`. Returns `start` if there
   * are none.
   */
  readonly skip?: (chunk: Buffer, start: number) => number
  readonly limitBytes?: number
}

/** The largest event that is held: room for a long answer or an image in one, not for an attack. */
const SSE_EVENT_LIMIT_BYTES = 8 * 1024 * 1024
/** The largest event that is translated: the vendor has billed what it repeats or contains. */
export const ANSWER_EVENT_BYTES_MAX = 64 * 1024 * 1024

const LF = 10
const CR = 13
/**
 * Tracks the ends of lines and events. Lines end in LF, CR or CRLF in any mixture; an empty line
 * ends an event. A CR ends its line at once, since waiting for a possible LF would delay the event;
 * an LF in the next chunk then opens the next frame, where it is ignored.
 */
interface LineState {
  atLineStart: boolean
  afterCr: boolean
  /** The next CR of the chunk, or -1. Most bodies have none: one search per chunk shows it. */
  nextCr: number
  /** The next LF, likewise: bodies may have CRs alone. */
  nextLf: number
}

/** The offset after the first event that ends at or after `from`, or -1. */
function findEventEnd(chunk: Buffer, from: number, state: LineState): number {
  let position = from
  while (state.nextLf !== -1 || state.nextCr !== -1) {
    const isCr = state.nextCr !== -1 && (state.nextLf === -1 || state.nextCr < state.nextLf)
    const at = isCr ? state.nextCr : state.nextLf
    const closesCrLf = !isCr && at === position && state.afterCr
    const empty = at === position && state.atLineStart && !closesCrLf
    position = at + 1
    state.afterCr = isCr
    state.atLineStart = true
    if (isCr) state.nextCr = chunk.indexOf(CR, position)
    else state.nextLf = chunk[position] === LF ? position : chunk.indexOf(LF, position)
    if (!empty) continue
    if (isCr && chunk[position] === LF) {
      state.afterCr = false
      state.nextLf = chunk.indexOf(LF, position + 1)
      return position + 1
    }
    return position
  }
  if (position < chunk.length) {
    state.atLineStart = false
    state.afterCr = false
  }
  return -1
}

/** Cuts a body into its events without decoding them. */
export function createSseSplitter(options: SseSplitterOptions): SseSplitter {
  const { onFrame, onOverflow, skip, limitBytes = SSE_EVENT_LIMIT_BYTES } = options
  /** Bytes that wait for the rest of their event. */
  const carry = new Slabs()
  const state: LineState = { atLineStart: true, afterCr: false, nextCr: -1, nextLf: -1 }
  let overflowing = false

  function overflow(piece: Buffer, isLast: boolean): void {
    overflowing = !isLast
    for (const kept of carry.take()) onOverflow?.(kept, false)
    onOverflow?.(piece, isLast)
  }

  function close(piece: Buffer): void {
    if (overflowing || carry.bytes + piece.length > limitBytes) {
      overflow(piece, true)
    } else if (carry.bytes > 0) {
      carry.add(piece)
      onFrame(carry.takeWhole())
    } else {
      onFrame(piece)
    }
  }

  function keep(piece: Buffer): void {
    if (overflowing || carry.bytes + piece.length > limitBytes) overflow(piece, false)
    else carry.add(piece)
  }

  function skipEvents(chunk: Buffer, start: number): number {
    const isInside = overflowing || carry.bytes > 0
    if (!skip || isInside || chunk.length > limitBytes) return start
    const end = skip(chunk, start)
    if (end > start) state.afterCr = false
    return end
  }

  return {
    push(chunk) {
      let start = skipEvents(chunk, 0)
      if (start === chunk.length) return
      state.nextCr = chunk.indexOf(CR, start)
      state.nextLf = chunk.indexOf(LF, start)
      for (;;) {
        const end = findEventEnd(chunk, start, state)
        if (end === -1) break
        close(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end))
        start = skipEvents(chunk, end)
        if (start === chunk.length) return
        if (start === end) continue
        if (state.nextCr !== -1 && state.nextCr < start) state.nextCr = chunk.indexOf(CR, start)
        state.nextLf = chunk.indexOf(LF, start)
      }
      keep(start === 0 ? chunk : chunk.subarray(start))
    },
    end() {
      overflowing = false
      if (carry.bytes > 0) onFrame(carry.takeWhole())
    },
    pendingBytes: () => carry.bytes,
    heldBytes: () => carry.capacity,
  }
}

const LINE_END = /\r\n|\r|\n/
const BYTE_ORDER_MARK = '\uFEFF'
/** Lines of an event that are read: millions of empty ones would take seconds. */
export const LINES_MAX = 65_536
/** The shortest event is a field without a value. */
const EVENT_BYTES_MIN = 'data'.length

/** Decodes one frame of the splitter. Undefined for comments, retry hints and blank lines. */
export function readSseFrame(frame: Buffer): SseEvent | undefined {
  if (frame.length < EVENT_BYTES_MIN) return undefined
  const text = frame.toString('utf8')
  if (text.startsWith('data: ')) {
    const lineEnd = text.indexOf('\n')
    // The usual frame is one data line: it needs no splitting.
    if (lineEnd !== -1 && lineEnd === text.length - 2 && text.endsWith('\n\n')) {
      const data = text.slice(6, lineEnd)
      if (!data.includes('\r')) return { event: 'message', data }
    }
  }
  return readLines(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
}

function readLines(text: string): SseEvent | undefined {
  let event = ''
  let data: string | undefined
  for (const line of text.split(LINE_END, LINES_MAX)) {
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    if (field !== 'data' && field !== 'event') continue
    const valueStart = line[colon + 1] === ' ' ? colon + 2 : colon + 1
    const value = colon === -1 ? '' : line.slice(valueStart)
    if (field === 'event') event = value
    else data = data === undefined ? value : `${data}\n${value}`
  }
  return data === undefined ? undefined : { event: event || 'message', data }
}

export interface SseParserOptions {
  readonly onEvent: (event: SseEvent) => void
  /** Called once for an event, or a run of events, over the limit; they are dropped. */
  readonly onOverflow?: () => void
  readonly limitBytes?: number
}

/** Decoded events of a body. `[DONE]` is an event like any other: its meaning is the caller's. */
export function createSseParser(options: SseParserOptions): Omit<SseSplitter, 'pendingBytes'> {
  let overflowing = false
  const splitter = createSseSplitter({
    limitBytes: options.limitBytes,
    onFrame(frame) {
      overflowing = false
      const event = readSseFrame(frame)
      if (event) options.onEvent(event)
    },
    onOverflow() {
      if (!overflowing) options.onOverflow?.()
      overflowing = true
    },
  })
  return { push: splitter.push, end: splitter.end, heldBytes: splitter.heldBytes }
}

/** Encodes an event. Without a name there is no `event:` line, as chat completions require. */
export function encodeSseEvent(event: string | undefined, data: string): string {
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data
  return event === undefined ? `data: ${lines}\n\n` : `event: ${event}\ndata: ${lines}\n\n`
}
