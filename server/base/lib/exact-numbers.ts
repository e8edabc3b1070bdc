/**
 * Reads JSON whose integers have to come out as they are written, such as ids in the arguments of
 * tools: a double holds no more than 15 digits of any.
 */

import { randomUUID } from 'node:crypto'
import { hasEscapedKey, skipString } from './json/json-string.ts'
import { isTooDeep, tryParseJson } from './json.ts'

/** Integers that may be no double have it; texts that do only take longer. */
const LONG = /\d{16}/
const LONG_ONES = new RegExp(LONG, 'g')
const INTEGER = /^-?\d+$/
const QUOTE = '"'
const NUMBER_SIGNS = [...Buffer.from('+-.eE')]

/** Longer documents have numbers in abundance, and nothing else runs meanwhile. */
const EXACT_BYTES_MAX = 256 * 1024

/** Begins the text that stands for a number while its document is parsed. Nobody can guess it. */
const MARK = `${randomUUID()}:`

const { rawJSON } = JSON as unknown as {
  /** Returns what `JSON.stringify` writes as the text. */
  rawJSON(text: string): unknown
}

/**
 * Parses JSON as `tryParseJson`, but for integers that no double holds: they are values that
 * `JSON.stringify` writes as they were read. A reviver that keeps them takes 150 times as long
 * as the parser for a list of small numbers, this up to ten times for any.
 */
export function tryParseExact(bytes: Buffer): unknown {
  const value = tryParseJson(bytes)
  if (value === undefined || bytes.length > EXACT_BYTES_MAX) return value
  const text = bytes.toString('latin1')
  if (!LONG.test(text) || hasEscapedKey(bytes)) return value
  const marked = markNumbers(bytes, text)
  return marked === undefined ? value : takeMarks(tryParseJson(marked))
}

/** Puts texts in the place of the integers that no double holds; undefined if there are none. */
function markNumbers(bytes: Buffer, text: string): Buffer | undefined {
  const parts: string[] = []
  let copied = 0
  /** The offset behind the last string or number that was passed, and that of the next string. */
  let at = 0
  let quote = text.indexOf(QUOTE)
  for (const { index } of text.matchAll(LONG_ONES)) {
    while (quote !== -1 && quote < index) {
      at = skipString(bytes, quote)
      quote = text.indexOf(QUOTE, at)
    }
    if (index < at) continue
    let start = index
    while (start > at && isOfNumber(bytes[start - 1])) start -= 1
    at = index
    while (isOfNumber(bytes[at])) at += 1
    const number = text.slice(start, at)
    if (isHeld(number)) continue
    parts.push(text.slice(copied, start), `"${MARK}${number}"`)
    copied = at
  }
  if (copied === 0) return undefined
  return Buffer.from(parts.join('') + text.slice(copied), 'latin1')
}

/** Digits, a sign, a point, and the letter before an exponent. */
function isOfNumber(byte = 0): boolean {
  return (byte >= 0x30 && byte <= 0x39) || NUMBER_SIGNS.includes(byte)
}

function isHeld(number: string): boolean {
  return !INTEGER.test(number) || Number.isSafeInteger(Number(number))
}

/** Returns the document with numbers in place of their marks. */
function takeMarks(document: unknown): unknown {
  const root = { document }
  const open: object[] = [root]
  const take = (holder: object, name: number | string, value: unknown) => {
    if (typeof value === 'object' && value !== null) open.push(value)
    if (typeof value !== 'string' || !value.startsWith(MARK)) return
    // An assignment to `__proto__` would change another object.
    Object.defineProperty(holder, name, { value: rawJSON(value.slice(MARK.length)) })
  }
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    // Pairs of an array's indices and values would take ten times as long.
    if (Array.isArray(next)) for (let at = 0; at < next.length; at++) take(next, at, next[at])
    else for (const [name, value] of Object.entries(next)) take(next, name, value)
  }
  return root.document
}

/**
 * Parses JSON that a request holds inside of a text. Returns undefined for invalid JSON, and for
 * values nested deeper than `JSON.stringify` can be trusted with: the limits of bodies bound none.
 */
export function tryParseInner(text: string): unknown {
  const value = tryParseExact(Buffer.from(text))
  return isTooDeep(value) ? undefined : value
}
