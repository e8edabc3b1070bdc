/** Access to JSON values of unknown shape. */
import { hasEscapedKey, isSpace, skipString } from './json/json-string.ts'
import { parseLargeJson } from './json/large-json.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns true for a member that is absent or null. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

/** Returns an object's own member, or undefined for any other value. */
export function member(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

export function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const BYTE_ORDER_MARK = '\uFEFF'

/**
 * The exact reader takes up to ten times as long, and nothing else runs meanwhile: 25 ms for this
 * size.
 */
const ESCAPED_BYTES_MAX = 256 * 1024

/**
 * Objects, lists and members that are always parsed at once. Those that 8 MB can have, empty
 * objects or ever new names, take the engine half a second, in which nothing else runs.
 */
const VALUES_MAX = 2 ** 20
/** Probabilities of tokens are what answers have most of: at least as many bytes for each value. */
const BYTES_PER_VALUE = 8
/** Each needs at least two characters, so that a shorter text need not be counted. */
const COUNTED_LENGTH = 2 * VALUES_MAX
const VALUE_SIGNS = ['{', '[', ':'] as const
const QUOTE = 0x22
const COLON = 0x3a

/**
 * The engine hashes a name of more than 16,383 characters by its length alone, and compares it with
 * all others of that length: 900 of them, 15 MB, take it 4 s. No vendor's document has any.
 */
export const LONG_NAME_BYTES = 16_000
const LONG_NAMES_MAX = 100
/** Names that are read whether they repeat or not, and then different ones. */
const NAMES_MAX = 2 ** 18

/** Returns true for many long names or many different ones: a million of them take seconds. */
function hasCostlyNames(json: Buffer): boolean {
  if (json.length < LONG_NAMES_MAX * LONG_NAME_BYTES) return false
  const different = new Set<string>()
  let [count, long] = [0, 0]
  for (let at = json.indexOf(QUOTE); at !== -1; at = json.indexOf(QUOTE, at)) {
    const start = at
    const end = skipString(json, start)
    if (end === -1) return false
    at = end
    while (isSpace(json[at])) at += 1
    if (json[at] !== COLON) continue
    count += 1
    if (end - start > LONG_NAME_BYTES) long += 1
    else if (count > NAMES_MAX) different.add(json.toString('latin1', start, end))
    if (long > LONG_NAMES_MAX || different.size > NAMES_MAX) return true
  }
  return false
}

/** Returns true for JSON that is not to be parsed at once: more values than any answer has. */
export function hasTooManyValues(json: string): boolean {
  if (json.length < COUNTED_LENGTH) return false
  const most = Math.max(VALUES_MAX, json.length / BYTES_PER_VALUE)
  return countSigns(json, most) > most && countValues(Buffer.from(json), most) > most
}

/** Returns true for JSON of more than `most` objects, lists, members and entries of lists. */
export function hasMoreValues(json: Buffer, most: number): boolean {
  return countValues(json, most, '{[,') > most
}

/** Returns what may be a value, in strings as well, up to one more than `most`. */
function countSigns(json: string, most: number): number {
  let count = 0
  for (const sign of VALUE_SIGNS) {
    for (let at = json.indexOf(sign); at !== -1; at = json.indexOf(sign, at + 1)) {
      count += 1
      if (count > most) return count
    }
  }
  return count
}

/** Returns the values, up to one more than `most`. */
function countValues(json: Buffer, most: number, of = VALUE_SIGNS.join('')): number {
  const signs = new Set(Buffer.from(of))
  let count = 0
  let at = 0
  while (at !== -1 && at < json.length && count <= most) {
    const byte = json[at] ?? 0
    if (signs.has(byte)) count += 1
    at = byte === QUOTE ? skipString(json, at) : at + 1
  }
  return count
}

/**
 * Parses JSON with or without a byte order mark. Returns undefined for invalid JSON, and for JSON
 * of too many values or costly names. The engine may mistake an escaped key for a key of another
 * document, so documents with such keys are read by the other reader, unless they are large.
 */
export function tryParseJson(bytes: Buffer): unknown {
  const text = bytes.toString('utf8')
  if (hasTooManyValues(text) || hasCostlyNames(bytes)) return undefined
  try {
    const json = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
    const isOther = bytes.length <= ESCAPED_BYTES_MAX && hasEscapedKey(bytes)
    return isOther ? parseEscaped(json) : JSON.parse(json)
  } catch {
    return undefined
  }
}

function parseEscaped(json: string): unknown {
  const parsing = parseLargeJson(Buffer.from(json))
  for (;;) {
    const { done, value } = parsing.next()
    if (done) return value
  }
}

/**
 * Prints any value of a document: an object or an array as JSON, since `String` calls its member
 * `toString`, which a caller or a vendor may have set to something else.
 */
export function printValue(value: unknown): string {
  return typeof value === 'object' && value !== null ? writeJson(value) : String(value)
}

const WRITTEN_DEPTH_MAX = 100

/**
 * Writes JSON, with `change` applied to texts other than names. Values nested too deeply for
 * `JSON.stringify`, which recurses into objects with numeric names, are cut: a vendor's document
 * never throws.
 */
export function writeJson(value: unknown, change?: (text: string) => string): string {
  try {
    return JSON.stringify(
      value,
      change && ((_name, one) => (typeof one === 'string' ? change(one) : one)),
    )
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return JSON.stringify(cutBelow(value, WRITTEN_DEPTH_MAX))
  }
}

/** Returns true for a value that is nested too deeply for what reads or writes it by recursion. */
export function isTooDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; depth <= WRITTEN_DEPTH_MAX; depth += 1) {
    const below: unknown[] = []
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue
      for (const inner of Object.values(one)) below.push(inner)
    }
    if (below.length === 0) return false
    level = below
  }
  return true
}

function cutBelow(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return null
  if (Array.isArray(value)) return value.map((item) => cutBelow(item, depth - 1))
  const members = Object.entries(value)
  return Object.fromEntries(members.map(([name, inner]) => [name, cutBelow(inner, depth - 1)]))
}
