/**
 * Reads a JSON object that is too large to be held while its bytes pass: the members of its first
 * levels whose values are small. An event that repeats a whole answer, with all of its images,
 * states its usage that way.
 */
import type { JsonObject } from '../../base/lib/json.ts'

export interface LargeObjectReader {
  /** Feeds bytes; everything before the first `{` is skipped. Returns the object when it ends. */
  push(bytes: Buffer): JsonObject | undefined
}

const VALUE_BYTES_MAX = 64 * 1024
const ALL_BYTES_MAX = 1024 * 1024

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const BLANK = 0x20
const OPENING: ReadonlySet<number | undefined> = new Set([0x7b, 0x5b])
const CLOSING: ReadonlySet<number | undefined> = new Set([0x7d, 0x5d])
const BRACE = 0x7b

function indexOrEnd(bytes: Buffer, byte: number, from: number): number {
  const found = bytes.indexOf(byte, from)
  return found === -1 ? bytes.length : found
}

/** `levels`: 1 keeps the object's own members, 2 those of the objects in it as well. */
export function createLargeObjectReader(levels: number): LargeObjectReader {
  return new Reader(levels)
}

interface OpenObject {
  readonly members: Map<string, unknown>
  key: string | undefined
}

class Reader implements LargeObjectReader {
  private readonly levels: number
  /** The objects whose members are read, from the outermost. */
  private readonly open: OpenObject[] = []
  /** Brackets that are open; more than there are objects inside of a value. */
  private depth = 0
  private expects: 'key' | 'colon' | 'value' | 'end' = 'key'
  private isInString = false
  private isEscaped = false
  /** Offset of the part of this chunk that is kept; -1 while nothing is kept. */
  private from = -1
  private pieces: Buffer[] = []
  private takenBytes = 0
  private keptBytes = 0
  private isOver = false
  /** The next backslash of this chunk: found once, so that no byte is searched twice. */
  private backslash = -1

  constructor(levels: number) {
    this.levels = levels
  }

  push(bytes: Buffer): JsonObject | undefined {
    if (this.from !== -1) this.from = 0
    this.backslash = -1
    let at = 0
    while (at < bytes.length && !this.isOver) {
      if (this.isInString) at = this.passString(bytes, at)
      else {
        const ended = this.step(bytes, at)
        if (ended) return ended
        at += 1
      }
    }
    if (this.from !== -1) this.take(bytes.subarray(this.from))
    return undefined
  }

  /** Returns the offset after the string, or after the bytes if the string continues. */
  private passString(bytes: Buffer, start: number): number {
    let at = start
    if (this.isEscaped) {
      this.isEscaped = false
      at += 1
    }
    const quote = bytes.indexOf(QUOTE, at)
    const end = quote === -1 ? bytes.length : quote
    for (;;) {
      if (this.backslash < at) this.backslash = indexOrEnd(bytes, BACKSLASH, at)
      if (this.backslash >= end) break
      at = this.backslash
      // A search for each of many escapes in a row would cost ten times as much.
      while (at < end && bytes[at] === BACKSLASH) at += 2
      if (at <= end) continue
      // The backslash escapes the quote, or the first byte of the next chunk.
      this.isEscaped = at > bytes.length
      return Math.min(at, bytes.length)
    }
    if (quote === -1) return bytes.length
    this.isInString = false
    if (this.isDirect() && this.expects === 'key') this.endKey(bytes, quote + 1)
    return quote + 1
  }

  private step(bytes: Buffer, at: number): JsonObject | undefined {
    const byte = bytes[at] ?? BLANK
    if (this.depth === 0 && byte !== BRACE) return undefined
    if (OPENING.has(byte)) this.onOpening(byte, at)
    else if (CLOSING.has(byte)) return this.onClosing(bytes, at)
    else if (byte === QUOTE) this.onQuote(at)
    else if (!this.isDirect()) return undefined
    else if (byte === COMMA) this.endValue(bytes, at)
    else if (byte === COLON && this.expects === 'colon') this.expects = 'value'
    else if (byte > BLANK && this.expects === 'value') this.beginValue(at)
    return undefined
  }

  /** True between the members of an object that is read. */
  private isDirect(): boolean {
    return this.depth === this.open.length
  }

  private onOpening(byte: number, at: number): void {
    const isValue = this.isDirect() && this.expects === 'value'
    const isRead = byte === BRACE && this.open.length < this.levels
    if (this.depth === 0 || (isValue && isRead)) {
      this.open.push({ members: new Map(), key: undefined })
      this.expects = 'key'
    } else if (isValue) this.beginValue(at)
    this.depth += 1
  }

  private onClosing(bytes: Buffer, at: number): JsonObject | undefined {
    if (!this.isDirect()) {
      this.depth -= 1
      return undefined
    }
    this.endValue(bytes, at)
    this.depth -= 1
    const { members } = this.open.pop() ?? { members: new Map() }
    const ended: JsonObject = Object.fromEntries(members)
    const around = this.open.at(-1)
    if (!around) {
      this.isOver = true
      return ended
    }
    if (around.key !== undefined) around.members.set(around.key, ended)
    this.expects = 'end'
    return undefined
  }

  private onQuote(at: number): void {
    this.isInString = true
    if (!this.isDirect()) return
    if (this.expects === 'key') this.from = at
    else if (this.expects === 'value') this.beginValue(at)
  }

  private beginValue(at: number): void {
    this.expects = 'end'
    this.from = at
  }

  private endKey(bytes: Buffer, end: number): void {
    const key = this.takeOut(bytes, end)
    const around = this.open.at(-1)
    if (around) around.key = typeof key === 'string' ? key : undefined
    this.expects = 'colon'
  }

  private endValue(bytes: Buffer, end: number): void {
    if (this.from !== -1) {
      const value = this.takeOut(bytes, end)
      const around = this.open.at(-1)
      if (around?.key !== undefined && value !== undefined) around.members.set(around.key, value)
    }
    this.expects = 'key'
  }

  private take(piece: Buffer): void {
    this.takenBytes += piece.length
    if (this.takenBytes > VALUE_BYTES_MAX) this.pieces = []
    else this.pieces.push(Buffer.from(piece))
  }

  /** The value that was read; undefined if it is too large or not JSON. */
  private takeOut(bytes: Buffer, end: number): unknown {
    this.take(bytes.subarray(this.from, end))
    const text = Buffer.concat(this.pieces).toString('utf8')
    const isSmall = this.takenBytes <= Math.min(VALUE_BYTES_MAX, ALL_BYTES_MAX - this.keptBytes)
    if (isSmall) this.keptBytes += this.takenBytes
    this.from = -1
    this.pieces = []
    this.takenBytes = 0
    if (!isSmall) return undefined
    try {
      return JSON.parse(text)
    } catch {
      return undefined
    }
  }
}
