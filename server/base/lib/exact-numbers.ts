/**
 * Reads JSON whose integers have to come out as they are written, such as ids in the arguments of
 * tools: a double holds no more than 15 digits of any.
 */

import { hasEscapedKey } from './json/json-string.ts'
import { isTooDeep, tryParseJson } from './json.ts'

/** Numbers that may be no double look so; texts that do only take longer. */
const LONG = /\d{16}|\de\+?\d{3}/i
const INTEGER = /^-?\d+$/

/** The reader of long numbers takes up to ten times as long, and nothing else runs meanwhile. */
const EXACT_BYTES_MAX = 256 * 1024

interface NumberReader {
  parse(
    text: string,
    revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  /** Returns what `JSON.stringify` writes as the text. */
  rawJSON(text: string): unknown
}

const { parse, rawJSON } = JSON as unknown as NumberReader

/**
 * Parses JSON as `tryParseJson`, but for numbers that no double holds: they are values that
 * `JSON.stringify` writes as they were read.
 */
export function tryParseExact(bytes: Buffer): unknown {
  const isPlain = bytes.length > EXACT_BYTES_MAX || !LONG.test(bytes.toString('latin1'))
  if (isPlain || hasEscapedKey(bytes)) return tryParseJson(bytes)
  try {
    return parse(bytes.toString('utf8'), keepNumber)
  } catch {
    return tryParseJson(bytes)
  }
}

function keepNumber(_key: string, value: unknown, { source }: { readonly source?: string }) {
  if (typeof value !== 'number' || source === undefined) return value
  const isHeld = INTEGER.test(source) ? Number.isSafeInteger(value) : Number.isFinite(value)
  return isHeld ? value : rawJSON(source)
}

/**
 * Parses JSON that a request holds inside of a text. Returns undefined for invalid JSON, and for
 * values nested deeper than `JSON.stringify` can be trusted with: the limits of bodies bound none.
 */
export function tryParseInner(text: string): unknown {
  const value = tryParseExact(Buffer.from(text))
  return isTooDeep(value) ? undefined : value
}
