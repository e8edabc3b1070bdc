/** Text and JSON that every parser, and the database, accepts. */
import { writeJson } from '../json.ts'

/** The start of a lone surrogate as JSON.stringify escapes it, and that of any character. */
const LONE = '\\ud'
const ANY = '\\u'
const ZERO = '\\u0000'
const ESCAPE_LENGTH = ZERO.length

/**
 * Returns JSON text that every parser accepts: lone surrogates, which UTF-8 cannot encode, become
 * U+FFFD. Values nested too deeply are cut, as `writeJson` does.
 */
export function stringifyWellFormed(value: unknown): string {
  const text = writeJson(value)
  if (!text.includes(LONE)) return text
  return replaceEscapes(writeJson(value, toWellFormed), LONE)
}

/**
 * Returns JSON text that PostgreSQL accepts as jsonb: U+0000 and lone surrogates, which callers and
 * vendors may send, become U+FFFD. Values nested too deeply are cut, as `writeJson` does.
 */
export function stringifyStorable(value: unknown): string {
  const text = writeJson(value)
  if (!text.includes(ZERO) && !text.includes(LONE)) return text
  return replaceEscapes(writeJson(value, toStorable), ANY)
}

/** There may be millions, which the engine replaces in a text at once. */
const toWellFormed = (text: string) => text.toWellFormed()
const toStorable = (text: string) => storableText(text.toWellFormed())

/** Replaces what is left: escapes in names, and after a cut. A backslash may itself be escaped. */
function replaceEscapes(text: string, start: string): string {
  const parts: string[] = []
  let from = 0
  for (let at = text.indexOf(start); at !== -1; at = text.indexOf(start, at + start.length)) {
    const isZero = text.startsWith(ZERO, at)
    if (isEscaped(text, at) || !(isZero || text.startsWith(LONE, at))) continue
    parts.push(text.slice(from, at), '\ufffd')
    from = at + ESCAPE_LENGTH
  }
  if (from === 0) return text
  parts.push(text.slice(from))
  return parts.join('')
}

/** Returns true if an odd number of backslashes precedes the offset. */
function isEscaped(text: string, offset: number): boolean {
  let at = offset
  while (text[at - 1] === '\\') at -= 1
  return (offset - at) % 2 === 1
}

/** Returns plain text that PostgreSQL accepts; lone surrogates become U+FFFD when encoded. */
export function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}

/** The path and description of text that cannot be stored. */
export interface Unstorable {
  readonly path: readonly (string | number)[]
  readonly problem: string
}

interface Visit {
  readonly value: unknown
  readonly step: string | number
  readonly from: Visit | undefined
}

/**
 * Returns the first text in a JSON document that the database cannot store, with U+0000 or a lone
 * surrogate, as a value or as a name; undefined if there is none. Works at any depth.
 */
export function findUnstorable(document: unknown): Unstorable | undefined {
  const waiting: Visit[] = [{ value: document, step: '', from: undefined }]
  for (let visit = waiting.pop(); visit; visit = waiting.pop()) {
    const { value } = visit
    if (typeof value === 'string') {
      const problem = judgeText(value)
      if (problem) return { path: pathOf(visit), problem }
    }
    if (typeof value !== 'object' || value === null) continue
    const isList = Array.isArray(value)
    for (const [name, member] of Object.entries(value).reverse()) {
      const problem = isList ? undefined : judgeText(name)
      if (problem) return { path: pathOf(visit), problem: `has a member whose name ${problem}` }
      waiting.push({ value: member, step: isList ? Number(name) : name, from: visit })
    }
  }
  return undefined
}

function judgeText(text: string): string | undefined {
  if (text.includes('\0')) return 'contains U+0000, which cannot be stored'
  if (!text.isWellFormed()) return 'contains half of a surrogate pair (a broken emoji)'
  return undefined
}

function pathOf(visit: Visit): (string | number)[] {
  const path: (string | number)[] = []
  for (let at: Visit = visit; at.from; at = at.from) path.push(at.step)
  return path.reverse()
}
