/**
 * Scans a JSON request body before JSON.parse: one pass over the bytes, without recursion. Rejects
 * what is costly (depth, values, keys) or ambiguous (duplicate keys, numbers that become Infinity),
 * and records where each top-level member is, for `splice.ts`. JSON.parse judges the syntax.
 */
import { isUtf8 } from 'node:buffer'
import { decodeKey, hasEscape, skipString } from '../../base/lib/json/json-string.ts'
import { type JsonRefusal, type JsonRefusalReason, refuseJson } from './json-refusal.ts'

export interface JsonLimits {
  /** Nested arrays and objects, the outermost included. */
  readonly depth: number
  /** Values of any kind in the whole body; each container and each list item counts. */
  readonly values: number
  /** Members of the outermost object: vendors know some dozens, and each is looked up by name. */
  readonly members: number
  /** Different keys in the whole body: one costs as much as twenty that are repeated. */
  readonly keys: number
}

export const REQUEST_LIMITS = { depth: 64, values: 200_000, members: 1_000, keys: 20_000 }
const NO_LIMITS = { depth: Infinity, values: Infinity, members: Infinity, keys: Infinity }

/** One member; byte offsets. `keyStart` is the key's opening quote; ends are exclusive. */
export interface JsonMember {
  /** Decoded: the escapes are gone. */
  readonly key: string
  readonly keyStart: number
  readonly valueStart: number
  readonly valueEnd: number
  /** Members of all objects inside of the value, duplicates included. */
  readonly inside: number
}

/** The top-level members by decoded key, in the order of the body. */
export type JsonFields = ReadonlyMap<string, JsonMember>

export type JsonScan =
  | {
      readonly ok: true
      readonly fields: JsonFields
      /**
       * Offsets of the commas directly inside of top-level values: between items, or members. Of a
       * body that is parsed in steps there are none.
       */
      readonly commas: readonly number[]
      /** True if a key at any depth is written with an escape. */
      readonly hasEscapedKeys: boolean
    }
  | JsonRefusal

const QUOTE = 0x22
export const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d
export const OPENING = { array: 0x5b, object: OPEN_OBJECT } as const
export const CLOSING: ReadonlySet<number> = new Set([0x5d, CLOSE_OBJECT])

/** Classes of bytes outside of strings. */
const OPEN = 1
const CLOSE = 2
const STRING = 3
const SEPARATOR = 4
const NUMBER = 5
const NAME_END = 6
const ACTIONS = new Uint8Array(256)
for (const character of '{[') ACTIONS[character.charCodeAt(0)] = OPEN
for (const character of '}]') ACTIONS[character.charCodeAt(0)] = CLOSE
for (const character of '-0123456789') ACTIONS[character.charCodeAt(0)] = NUMBER
ACTIONS[QUOTE] = STRING
ACTIONS[COMMA] = SEPARATOR
ACTIONS[COLON] = NAME_END

/** Bytes that a number may hold after its first one. */
const NUMBER_BYTES = new Uint8Array(256)
for (const character of '+-.0123456789eE') NUMBER_BYTES[character.charCodeAt(0)] = 1

/**
 * Bytes of a name. The engine hashes a text of more than 16,383 characters by its length alone, so
 * that it compares each longer name with all others of that length.
 */
const NAME_BYTES_MAX = 8 * 1024

/** Without an exponent, only a number with more digits than this can exceed the largest double. */
const SAFE_NUMBER_BYTES = 308

interface Cursor {
  readonly bytes: Buffer
  readonly limits: JsonLimits
  position: number
  values: number
  /** See JsonScan; undefined where nobody asks for them. */
  commas: number[] | undefined
  /** Members of nested objects so far. */
  inside: number
  /** See JsonScan. */
  hasEscapedKeys: boolean
  /** The offset of the last string inside of a container. */
  lastString: number
  /** The offset of the last name inside of a container; `lastString` is then that of its colon. */
  nameStart: number
  /** Set once one of the readers below has returned false. */
  refusal: JsonRefusalReason | undefined
  /** Containers that are open around the position; 0 between the members that are read. */
  level: number
  /** A scan in steps pauses at the first position from here on that is inside of a container. */
  pauseAt: number
}

/** A step takes some milliseconds. */
const STEP_BYTES = 1024 * 1024

/**
 * Scans a whole request body. The offsets may be used only after JSON.parse has accepted the
 * same bytes: the scan does not prove that the values are well formed.
 *
 * Two keys that differ only in letter case count as one key, because some JSON readers (Go's
 * encoding/json) match names that way, and such an upstream would read the other one.
 */
export function scanJson(bytes: Buffer, limits: JsonLimits = REQUEST_LIMITS): JsonScan {
  return runSteps(scanInSteps(bytes, limits, Infinity))
}

/** Scans as `scanJson` does. Other work may be done wherever it yields. */
export function* scanInSteps(
  bytes: Buffer,
  limits: JsonLimits = REQUEST_LIMITS,
  stepBytes = STEP_BYTES,
): Generator<void, JsonScan> {
  if (!isUtf8(bytes)) return refuseJson('encoding')
  const cursor = scannerAt(bytes, 0, limits, stepBytes)
  if (bytes.length <= STEP_BYTES) cursor.commas = []
  if (skipSpace(cursor) !== OPEN_OBJECT) return refuseJson('not_an_object')
  const members: JsonMember[] = []
  if (!(yield* readMembers(cursor, members, stepBytes))) {
    return refuseJson(cursor.refusal ?? 'syntax', cursor.position, members.at(-1)?.key)
  }
  const isLarge = members.length + cursor.inside > limits.keys
  if (isLarge && (yield* hasMoreKeys(bytes, limits.keys, stepBytes))) {
    return refuseJson('too_many_keys')
  }
  const double = findDuplicate(members)
  if (double !== undefined) return refuseJson('duplicate_key', double.keyStart, double.key)
  const fields = new Map(members.map((member) => [member.key, member]))
  const { commas = [], hasEscapedKeys } = cursor
  return { ok: true, fields, commas, hasEscapedKeys }
}

/**
 * Returns the members of the object that opens at `start`, duplicates included, in order. Only for
 * bytes that JSON.parse has accepted.
 */
export function scanMembers(bytes: Buffer, start: number): readonly JsonMember[] {
  const members: JsonMember[] = []
  runSteps(readMembers(scannerAt(bytes, start), members, Infinity))
  return members
}

/** Runs all steps of a reader. */
export function runSteps<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/**
 * Returns a scanner that is at `position`. Without limits only for bytes that JSON.parse has
 * accepted.
 */
export function scannerAt(
  bytes: Buffer,
  position: number,
  limits: JsonLimits = NO_LIMITS,
  pauseAt = Infinity,
): Cursor {
  const counts = {
    values: 1,
    inside: 0,
    level: 0,
    commas: undefined,
    lastString: position,
    nameStart: 0,
  }
  return { bytes, limits, position, refusal: undefined, pauseAt, hasEscapedKeys: false, ...counts }
}

/** Reads an object from its opening brace on. After a refusal the last member is the cause. */
function* readMembers(
  cursor: Cursor,
  members: JsonMember[],
  stepBytes: number,
): Generator<void, boolean> {
  cursor.position++
  if (skipSpace(cursor) === CLOSE_OBJECT) return true
  for (;;) {
    const keyStart = cursor.position
    const key = readKey(cursor)
    if (key === undefined) return stop(cursor, cursor.refusal ?? 'syntax')
    const { position: valueStart, inside: before } = cursor
    let read = skipValue(cursor)
    while (read && cursor.position >= cursor.pauseAt) {
      yield
      cursor.pauseAt = cursor.position + stepBytes
      if (cursor.level > 0) read = resume(cursor)
    }
    const { position: valueEnd } = cursor
    members.push({ key, keyStart, valueStart, valueEnd, inside: cursor.inside - before })
    if (!read) return false
    if (++cursor.values > cursor.limits.values) return stop(cursor, 'too_many_values')
    if (members.length > cursor.limits.members) return stop(cursor, 'too_many_fields')
    if (skipSpace(cursor) !== COMMA) return true
    cursor.position++
    skipSpace(cursor)
  }
}

/** Returns the first member whose key occurred before, letter case aside. */
export function findDuplicate(members: readonly JsonMember[]): JsonMember | undefined {
  const folds = new Set<string>()
  for (const member of members) {
    const size = folds.size
    if (folds.add(foldKey(member.key)).size === size) return member
  }
  return undefined
}

/** Moves to the next byte that is not white space and returns it; -1 at the end. */
export function skipSpace(cursor: Cursor): number {
  const { bytes } = cursor
  for (; cursor.position < bytes.length; cursor.position++) {
    const byte = bytes[cursor.position] ?? -1
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte
  }
  return -1
}

/**
 * Reads a key and its colon, and leaves the cursor on the value. Returns undefined if there is no
 * key.
 */
export function readKey(cursor: Cursor): string | undefined {
  const { bytes, position: start } = cursor
  if (bytes[start] !== QUOTE) return undefined
  const end = skipString(bytes, start)
  if (end === -1 || isTooLong(cursor, start, end)) return undefined
  cursor.position = end
  if (skipSpace(cursor) !== COLON) return undefined
  cursor.position++
  skipSpace(cursor)
  cursor.hasEscapedKeys ||= hasEscape(bytes, start, end)
  return decodeKey(bytes, start, end)
}

/** Returns true for more than `most` different keys, at any depth. */
function* hasMoreKeys(bytes: Buffer, most: number, stepBytes: number): Generator<void, boolean> {
  const keys = new Set<string>()
  const cursor = scannerAt(bytes, 0, NO_LIMITS, stepBytes)
  while (keys.size <= most) {
    const open = bytes.indexOf(QUOTE, cursor.position)
    const end = open === -1 ? -1 : skipString(bytes, open)
    if (end === -1) return false
    cursor.position = end
    if (skipSpace(cursor) === COLON) keys.add(bytes.toString('latin1', open, end))
    if (cursor.position < cursor.pauseAt) continue
    yield
    cursor.pauseAt = cursor.position + stepBytes
  }
  return true
}

/** Keys that need no folding: nearly all keys of nearly all bodies. */
const PLAIN_KEY = /^[a-z0-9_]*$/

/**
 * Folds all letter cases into one; to upper case first, because U+017F and U+212A only fold that
 * way.
 */
export function foldKey(key: string): string {
  return PLAIN_KEY.test(key) ? key : key.toUpperCase().toLowerCase()
}

/**
 * Skips one value of the object. Returns false where it is malformed; the cursor has the reason.
 */
export function skipValue(cursor: Cursor): boolean {
  const { bytes, position } = cursor
  switch (ACTIONS[bytes[position] ?? 0]) {
    case OPEN:
      return skipContainer(cursor)
    case NUMBER:
      return skipNumber(cursor)
    case STRING: {
      const end = skipString(bytes, position)
      if (end === -1) return stop(cursor, 'syntax')
      cursor.position = end
      return true
    }
    default:
      return skipLiteral(cursor)
  }
}

/** Continues a container in which the cursor has paused. */
function resume(cursor: Cursor): boolean {
  return cursor.position < cursor.bytes.length ? skipContainer(cursor) : stop(cursor, 'syntax')
}

/**
 * Moves over an array or object, however deep, with a counter in place of a stack. Returns true
 * with a level above 0 where it pauses.
 */
function skipContainer(cursor: Cursor): boolean {
  const { bytes, limits } = cursor
  const end = Math.min(bytes.length, cursor.pauseAt)
  // The object that is read is level 1.
  let level = Math.max(cursor.level, 1)
  do {
    const action = ACTIONS[bytes[cursor.position] ?? 0]
    if (action === STRING) {
      const end = skipString(bytes, cursor.position)
      if (end === -1) return stop(cursor, 'syntax')
      if (end - cursor.position > NAME_BYTES_MAX && isKind(cursor)) {
        return stop(cursor, 'name_too_long')
      }
      cursor.lastString = cursor.position
      cursor.position = end
    } else if (action === NUMBER) {
      if (!skipNumber(cursor)) return false
    } else {
      if (action === OPEN) level++
      else if (action === CLOSE) level--
      if (action === OPEN || action === SEPARATOR) cursor.values++
      else if (action === NAME_END) {
        cursor.inside++
        if (isTooLong(cursor, cursor.lastString, cursor.position)) return false
        cursor.hasEscapedKeys ||= hasEscape(bytes, cursor.lastString, cursor.position)
        cursor.nameStart = cursor.lastString
        // No byte of malformed text is read twice.
        cursor.lastString = cursor.position
      }
      if (action === SEPARATOR && level === 2) cursor.commas?.push(cursor.position)
      if (level > limits.depth) return stop(cursor, 'too_deep')
      if (cursor.values > limits.values) return stop(cursor, 'too_many_values')
      cursor.position++
    }
  } while (level > 1 && cursor.position < end)
  cursor.level = level === 1 ? 0 : level
  return level === 1 || end < bytes.length || stop(cursor, 'syntax')
}

/** Types and roles, which are compared with the known ones, are names as well. */
function isKind({ bytes, limits, nameStart, lastString, position }: Cursor): boolean {
  if (bytes[lastString] !== COLON || limits === NO_LIMITS) return false
  // An escape in the name makes no difference to those who read it.
  const name = decodeKey(bytes, nameStart, skipString(bytes, nameStart))
  if (name === undefined || !KINDS.has(name)) return false
  return bytes.toString('latin1', lastString + 1, position).trim() === ''
}

const KINDS: ReadonlySet<string> = new Set(['type', 'role'])

/** Space behind a name counts as well. */
function isTooLong(cursor: Cursor, start: number, end: number): boolean {
  if (end - start <= NAME_BYTES_MAX || cursor.limits === NO_LIMITS) return false
  cursor.refusal = 'name_too_long'
  return true
}

function stop(cursor: Cursor, refusal: JsonRefusalReason): false {
  cursor.refusal = refusal
  return false
}

/** Moves over a number and refuses one that no double can hold. */
function skipNumber(cursor: Cursor): boolean {
  const { bytes, position: start } = cursor
  let position = start + 1
  let exponent = false
  for (; NUMBER_BYTES[bytes[position] ?? 0] === 1; position++) {
    if (((bytes[position] ?? 0) | 0x20) === 0x65) exponent = true
  }
  if (exponent || position - start > SAFE_NUMBER_BYTES) {
    const value = Number(bytes.toString('latin1', start, position))
    if (value === Infinity || value === -Infinity) return stop(cursor, 'number_out_of_range')
  }
  cursor.position = position
  return true
}

/** Moves over `true`, `false`, `null`, or over rubbish that JSON.parse will refuse. */
function skipLiteral(cursor: Cursor): true {
  const { bytes } = cursor
  for (; cursor.position < bytes.length; cursor.position++) {
    const byte = bytes[cursor.position] ?? 0
    if (byte <= 0x20 || byte === COMMA || ACTIONS[byte] === CLOSE) break
  }
  return true
}
