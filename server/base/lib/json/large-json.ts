/**
 * Parses JSON of many megabytes in steps, with little memory besides the bytes and the result.
 * `JSON.parse` needs the whole text at once, of two bytes for each character if one of them is not
 * Latin, and copies each string of it into the heap, where collections of young objects copy it
 * twice more. Here long strings are parts of texts outside of the heap, a few megabytes each.
 */
import { isAscii } from 'node:buffer'
import { skipString } from './json-string.ts'

/** Bytes between two steps: some milliseconds. */
const STEP_BYTES = 1024 * 1024
/** The runtime keeps a text outside of the heap from about a megabyte on. */
const TEXT_BYTES = 2 * 1024 * 1024
/** A shorter string is copied: whatever keeps one would keep a whole text with it. */
const PART_BYTES_MIN = 512

/** A longer string gets a text of its own, because the rest of another text would be read twice. */
const ALONE_BYTES = TEXT_BYTES / 8

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** As JSON, a text with such characters has another meaning, or is invalid. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const NOT_PLAIN = /[\\\u0000-\u001f]/

type Container = unknown[] | Record<string, unknown>

/**
 * Returns the value of the document, as `JSON.parse` would. Throws SyntaxError. Other work may be
 * done wherever it yields. `bytes` must be UTF-8.
 */
export function* parseLargeJson(bytes: Buffer): Generator<void, unknown> {
  const reader = new Reader(bytes)
  let pauseAt = STEP_BYTES
  while (reader.step()) {
    if (reader.position < pauseAt) continue
    yield
    pauseAt = reader.position + STEP_BYTES
  }
  return reader.result
}

class Reader {
  result: unknown
  position = 0
  private readonly bytes: Buffer
  private readonly strings: Strings
  /** The containers around the position, from the outermost. */
  private readonly open: Container[] = []
  /** The name of the next value, in an object. */
  private key = ''

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.strings = new Strings(bytes)
  }

  /** Reads a value, or the opening of a container. Returns false after the last one. */
  step(): boolean {
    const byte = this.skipSpace()
    if (byte === OPEN_ARRAY) return this.begin([], CLOSE_ARRAY)
    if (byte === OPEN_OBJECT) return this.begin({}, CLOSE_OBJECT)
    this.place(byte === QUOTE ? this.readString() : this.readLeaf())
    return this.toNext()
  }

  private begin(container: Container, closing: number): boolean {
    this.position += 1
    this.place(container)
    this.open.push(container)
    if (this.skipSpace() === closing) return this.toNext()
    if (closing === CLOSE_OBJECT) this.readKey()
    return true
  }

  private place(value: unknown): void {
    const around = this.open.at(-1)
    if (around === undefined) this.result = value
    else if (Array.isArray(around)) around.push(value)
    else if (this.key === '__proto__') {
      Object.defineProperty(around, this.key, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      })
    } else around[this.key] = value
  }

  /** Moves to the next value. Returns false if there is none. */
  private toNext(): boolean {
    for (;;) {
      const around = this.open.at(-1)
      const byte = this.skipSpace()
      if (around === undefined) {
        if (byte !== undefined) throw new SyntaxError('text after the document')
        return false
      }
      this.position += 1
      const isArray = Array.isArray(around)
      if (byte === COMMA) {
        if (!isArray) this.readKey()
        return true
      }
      if (byte !== (isArray ? CLOSE_ARRAY : CLOSE_OBJECT)) throw new SyntaxError('no comma')
      this.open.pop()
    }
  }

  private readKey(): void {
    if (this.skipSpace() !== QUOTE) throw new SyntaxError('no key')
    this.key = this.readString()
    if (this.skipSpace() !== COLON) throw new SyntaxError('no colon')
    this.position += 1
  }

  private readString(): string {
    const start = this.position
    const end = skipString(this.bytes, start)
    if (end === -1) throw new SyntaxError('a string does not end')
    this.position = end
    return this.strings.read(start, end)
  }

  /** Reads a number, `true`, `false` or `null`. */
  private readLeaf(): unknown {
    const { bytes, position: start } = this
    while (this.position < bytes.length && !endsLeaf(bytes[this.position])) this.position += 1
    return JSON.parse(bytes.toString('latin1', start, this.position))
  }

  private skipSpace(): number | undefined {
    const { bytes } = this
    for (; this.position < bytes.length; this.position += 1) {
      const byte = bytes[this.position]
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte
    }
    return undefined
  }
}

function endsLeaf(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT || (byte ?? 0) <= 0x20
}

/** Reads strings in the order of the document. */
class Strings {
  private readonly bytes: Buffer
  /** Of the bytes from `start` up to `end`. */
  private text = ''
  private start = 0
  private end = 0
  private isAscii = true
  /** An offset of bytes, and that of the same place in the text. */
  private knownByte = 0
  private knownAt = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Returns the string whose quotes are at `start` and before `end`. */
  read(start: number, end: number): string {
    const quoted = this.decode(start, end)
    return NOT_PLAIN.test(quoted) ? JSON.parse(quoted) : quoted.slice(1, -1)
  }

  private decode(start: number, end: number): string {
    if (end - start < PART_BYTES_MIN) return this.bytes.toString('utf8', start, end)
    if (end > this.end) this.load(start, end - start > ALONE_BYTES ? end : start + TEXT_BYTES)
    return this.text.slice(this.placeOf(start), this.placeOf(end))
  }

  /** Returns the place in the text of a byte that is not before the last one asked for. */
  private placeOf(byte: number): number {
    if (this.isAscii) return byte - this.start
    this.knownAt += countUnits(this.bytes, this.knownByte, byte)
    this.knownByte = byte
    return this.knownAt
  }

  private load(start: number, end: number): void {
    const piece = this.bytes.subarray(start, end)
    this.start = start
    this.end = start + piece.length
    this.knownByte = start
    this.knownAt = 0
    this.isAscii = isAscii(piece)
    // A character that is cut off at its end is not part of any string that is read from it.
    this.text = piece.toString(this.isAscii ? 'latin1' : 'utf8')
  }
}

/** Counts the units of UTF-16 that bytes of UTF-8 stand for. */
function countUnits(bytes: Buffer, start: number, end: number): number {
  let units = 0
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0
    if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1
  }
  return units
}
