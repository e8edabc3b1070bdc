/**
 * Reads JSON whose integers have to come out as they are written, such as ids in the arguments of
 * tools: a double holds no more than 15 digits of any.
 */

import { hasEscapedKey, skipString } from './json/json-string.ts'
import { tryParseJson } from './json.ts'

/** Integers that may be no double have it; texts that do only take longer. */
export const LONG = /\d{16}/
const LONG_BYTES = 16
const INTEGER = /^-?\d+$/

/** Nothing else runs while a document is read: up to some 15 ms for this size. */
export const EXACT_BYTES_MAX = 512 * 1024

/** More of them are no ids. */
const NUMBERS_MAX = 10_000

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Bytes that a number may begin with are 1, those that it may have after them 2. */
const NUMBER_BYTES = new Uint8Array(256)
for (const byte of Buffer.from('-0123456789')) NUMBER_BYTES[byte] = 1
for (const byte of Buffer.from('+.eE')) NUMBER_BYTES[byte] = 2

const { rawJSON } = JSON as unknown as {
  /** Returns what `JSON.stringify` writes as the text. */
  rawJSON(text: string): unknown
}

/**
 * Parses JSON as `tryParseJson`, but for integers that no double holds: they are values that
 * `JSON.stringify` writes as they were read. They are doubles in documents above 512 KiB, with more
 * than 10,000 of them, or with an escaped key.
 */
export function tryParseExact(bytes: Buffer): unknown {
  const value = tryParseJson(bytes)
  if (value === undefined || bytes.length > EXACT_BYTES_MAX) return value
  if (!LONG.test(bytes.toString('latin1')) || hasEscapedKey(bytes)) return value
  const places = new Places(bytes, value)
  const numbers = findLong(bytes, places)
  if (numbers.length > NUMBERS_MAX) return value
  for (const { holder, name, text } of numbers) {
    // An assignment to `__proto__` would change another object.
    Object.defineProperty(holder, name, { value: rawJSON(text) })
  }
  return places.document
}

interface LongNumber {
  readonly holder: object
  readonly name: string | number
  readonly text: string
}

/** Returns the integers that no double holds; no more than one too many. */
function findLong(bytes: Buffer, places: Places): readonly LongNumber[] {
  const numbers: LongNumber[] = []
  for (let at = 0; at < bytes.length && numbers.length <= NUMBERS_MAX; ) {
    const byte = bytes[at] ?? 0
    const start = at
    if (byte === QUOTE) {
      at = skipString(bytes, start)
      places.passString(start)
    } else if (NUMBER_BYTES[byte] === 1) {
      while (NUMBER_BYTES[bytes[at] ?? 0]) at += 1
      if (at - start < LONG_BYTES) continue
      const text = bytes.toString('latin1', start, at)
      const found = isHeld(text) ? undefined : places.find(Number(text))
      if (found) numbers.push({ ...found, text })
    } else {
      places.passSign(byte)
      at += 1
    }
  }
  return numbers
}

function isHeld(number: string): boolean {
  return !INTEGER.test(number) || Number.isSafeInteger(Number(number))
}

/** Follows a walk over the bytes of a document, to find in the value what stands in the bytes. */
class Places {
  private readonly bytes: Buffer
  private readonly root: { document: unknown }
  /** The containers around the position, as far as any was asked for. */
  private readonly holders: unknown[]
  /** True for each container around the position that is an array. */
  private readonly areArrays = [false]
  /** In each of them the index of the member at the position, or the offset of its name. */
  private readonly members = [0]
  private isBeforeName = false

  constructor(bytes: Buffer, document: unknown) {
    this.bytes = bytes
    this.root = { document }
    this.holders = [this.root]
  }

  get document(): unknown {
    return this.root.document
  }

  passString(start: number): void {
    if (!this.isBeforeName) return
    this.members[this.members.length - 1] = start
    this.isBeforeName = false
  }

  passSign(byte: number): void {
    const { areArrays, members, holders } = this
    const level = members.length - 1
    if (byte === COMMA) {
      if (areArrays[level]) members[level] = (members[level] ?? 0) + 1
      else this.isBeforeName = true
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      this.isBeforeName = byte === OPEN_OBJECT
      areArrays.push(!this.isBeforeName)
      members.push(0)
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      this.isBeforeName = false
      areArrays.pop()
      members.pop()
      if (holders.length > level) holders.pop()
    }
  }

  /** Returns the place of the number at the position; none if a later key took its place. */
  find(number: number): Pick<LongNumber, 'holder' | 'name'> | undefined {
    const { holders, members } = this
    while (holders.length < members.length) {
      const above = holders.length - 1
      holders.push(memberOf(holders[above], this.nameAt(above)))
    }
    const holder = holders.at(-1)
    const name = this.nameAt(members.length - 1)
    if (memberOf(holder, name) !== number) return undefined
    return { holder: holder as object, name }
  }

  private nameAt(level: number): string | number {
    const { bytes, areArrays, members } = this
    if (level === 0) return 'document'
    const member = members[level] ?? 0
    if (areArrays[level]) return member
    return bytes.toString('utf8', member + 1, skipString(bytes, member) - 1)
  }
}

function memberOf(holder: unknown, name: string | number): unknown {
  const isHolder = typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name)
  return isHolder ? (holder as Record<string | number, unknown>)[name] : undefined
}
