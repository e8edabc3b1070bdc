/**
 * Edits a JSON object body in place of decoding and encoding it: key order, white space, unknown
 * fields and the spelling of numbers stay as the caller sent them, because an upstream's prompt
 * cache and signatures may depend on every byte.
 */
import { skipString } from '../../base/lib/json/json-string.ts'
import { foldKey, type JsonFields, type JsonMember, scanMembers } from './json-scan.ts'

/** A top-level field is named by one kind of edit only. */
export interface JsonEdits {
  /** Top-level fields and their new values as JSON text, replaced in place or appended. */
  readonly set?: Readonly<Record<string, string>>
  /** Top-level fields to leave out. Absent ones are no error. */
  readonly remove?: readonly string[]
  /** Top-level fields and their new names. One whose new name is there as well keeps its own. */
  readonly rename?: Readonly<Record<string, string>>
  /**
   * Fields inside of a top-level object, for example
   * `{ stream_options: { include_usage: 'true' } }`. An absent object is added; a value that
   * is not an object (`null`) is replaced by one.
   */
  readonly setInside?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** A stretch of the old bytes, `end` exclusive, and the text that takes its place. */
interface Cut {
  readonly start: number
  readonly end: number
  readonly text: string
}

const OPEN_OBJECT = 0x7b

/**
 * Returns a new body with all edits made in one copy, or the same Buffer if nothing changes.
 * `bytes` must have been accepted by `parseRequestJson`, which created `fields`. The values must be
 * valid JSON.
 */
export function spliceJson(bytes: Buffer, fields: JsonFields, edits: JsonEdits): Buffer {
  const members = [...fields.values()]
  const set: Record<string, string> = { ...edits.set }
  const cuts: Cut[] = []
  for (const [key, inner] of Object.entries(edits.setInside ?? {})) {
    const member = fields.get(key)
    if (member !== undefined && bytes[member.valueStart] === OPEN_OBJECT) {
      const { valueStart } = member
      cutMembers(cuts, bytes, valueStart, scanMembers(bytes, valueStart), inner)
    } else {
      set[key] = `{${printMembers(Object.entries(inner))}}`
    }
  }
  for (const [key, name] of Object.entries(edits.rename ?? {})) {
    const member = fields.has(name) ? undefined : fields.get(key)
    if (member === undefined) continue
    const { keyStart: start } = member
    cuts.push({ start, end: skipString(bytes, start), text: JSON.stringify(name) })
  }
  cutMembers(cuts, bytes, bytes.indexOf(OPEN_OBJECT), members, set, new Set(edits.remove))
  return cuts.length === 0 ? bytes : applyCuts(bytes, cuts)
}

const NOTHING: ReadonlySet<string> = new Set()

/** Adds the cuts of the object that opens at `open`; a duplicate key is changed twice. */
function cutMembers(
  cuts: Cut[],
  bytes: Buffer,
  open: number,
  members: readonly JsonMember[],
  set: Readonly<Record<string, string>>,
  remove: ReadonlySet<string> = NOTHING,
): void {
  const missing = new Map(Object.entries(set))
  const kept = remove.size === 0 ? members : members.filter(({ key }) => !remove.has(key))
  if (kept.length < members.length) cutRemoved(cuts, members, kept)
  for (const { key, valueStart, valueEnd } of kept) {
    // Some parsers match names in any letter case, so other spellings are replaced too.
    const name = Object.hasOwn(set, key) ? key : foldKey(key)
    if (!Object.hasOwn(set, name)) continue
    const text = set[name] ?? 'null'
    missing.delete(key)
    if (bytes.toString('utf8', valueStart, valueEnd) !== text) {
      cuts.push({ start: valueStart, end: valueEnd, text })
    }
  }
  if (missing.size > 0) {
    const end = kept.at(-1)?.valueEnd ?? open + 1
    const text = printMembers(missing.entries())
    cuts.push({ start: end, end, text: kept.length > 0 ? `,${text}` : text })
  }
}

/** Removes members with the comma and the space before them, or after them for the first one. */
function cutRemoved(
  cuts: Cut[],
  members: readonly JsonMember[],
  kept: readonly JsonMember[],
): void {
  const keeps = new Set(kept)
  let before: JsonMember | undefined
  for (let first = 0; first < members.length; first++) {
    const member = members[first]
    if (member === undefined || keeps.has(member)) {
      before = member
      continue
    }
    let last = first
    while (isRemoved(members[last + 1], keeps)) last++
    const start = before?.valueEnd ?? member.keyStart
    const after = before === undefined ? members[last + 1]?.keyStart : undefined
    cuts.push({ start, end: after ?? members[last]?.valueEnd ?? start, text: '' })
    first = last
  }
}

function isRemoved(member: JsonMember | undefined, keeps: ReadonlySet<JsonMember>): boolean {
  return member !== undefined && !keeps.has(member)
}

function printMembers(entries: Iterable<readonly [string, string]>): string {
  return Array.from(entries, ([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')
}

function applyCuts(bytes: Buffer, cuts: Cut[]): Buffer {
  // A removal and an addition may meet at one offset: the removal's text is empty, so either
  // order of the two gives the same bytes, and the sort need only be by place.
  cuts.sort((one, other) => one.start - other.start || one.end - other.end)
  const pieces: Buffer[] = []
  let position = 0
  for (const { start, end, text } of cuts) {
    pieces.push(bytes.subarray(position, start), Buffer.from(text))
    position = end
  }
  pieces.push(bytes.subarray(position))
  return Buffer.concat(pieces)
}
