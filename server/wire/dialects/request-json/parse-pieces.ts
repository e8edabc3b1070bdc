/**
 * Parses a body in pieces of a few items each. As a whole, its text would take two bytes per
 * character if a single one is not Latin-1, in newly allocated memory each time. The texts of
 * pieces are small, and most take one byte per character.
 */
import type { JsonObject } from '../../../base/lib/json.ts'
import {
  CLOSE_OBJECT,
  type JsonMember,
  type JsonScan,
  OPENING,
  scannerAt,
  skipSpace,
} from '../json-scan.ts'

/** A piece ends with the item that reaches this size: one piece per item would cost more. */
const PIECE_BYTES = 256
const CLOSE_ARRAY = 0x5d

/** Returns the value of a body that was scanned, as `JSON.parse` would. Throws SyntaxError. */
export function parsePieces(
  bytes: Buffer,
  { fields, commas }: Extract<JsonScan, { ok: true }>,
): JsonObject {
  const members: [string, unknown][] = []
  let end = bytes.indexOf(OPENING.object) + 1
  let next = 0
  for (const member of fields.values()) {
    const from = next
    while ((commas[next] ?? Infinity) < member.valueEnd) next += 1
    members.push(parseMember(bytes, member, commas.slice(from, next)))
    end = member.valueEnd
  }
  expectEnd(bytes, end)
  // Unlike an assignment, this makes `__proto__` a member as any other.
  return Object.fromEntries(members)
}

/** `commas` are those directly inside of the value. */
function parseMember(
  bytes: Buffer,
  { keyStart, valueStart, valueEnd }: JsonMember,
  commas: readonly number[],
): [string, unknown] {
  const isLong = valueEnd - valueStart > PIECE_BYTES
  if (!isLong || commas.length === 0 || bytes[valueStart] !== OPENING.array) {
    return parseOnly(bytes.toString('utf8', keyStart, valueEnd))
  }
  const [key] = parseOnly(`${bytes.toString('utf8', keyStart, valueStart)}0`)
  return [key, parseItems(bytes, valueStart, valueEnd, commas)]
}

/** Parses the text of one member. */
function parseOnly(member: string): [string, unknown] {
  const [only] = Object.entries(JSON.parse(`{${member}}`))
  if (only === undefined) throw new SyntaxError('no member')
  return only
}

function parseItems(
  bytes: Buffer,
  open: number,
  end: number,
  commas: readonly number[],
): unknown[] {
  if (bytes[end - 1] !== CLOSE_ARRAY) throw new SyntaxError('the list does not end')
  const items: unknown[] = []
  let start = open + 1
  let count = 0
  const take = (to: number) => {
    count += 1
    if (to - start < PIECE_BYTES && to < end - 1) return
    const piece: unknown[] = JSON.parse(`[${bytes.toString('utf8', start, to)}]`)
    // An empty item alone reads as an empty list.
    if (piece.length !== count) throw new SyntaxError('an item is missing')
    for (const item of piece) items.push(item)
    start = to + 1
    count = 0
  }
  for (const comma of commas) take(comma)
  take(end - 1)
  return items
}

/** Throws unless nothing follows but the end of the object. */
function expectEnd(bytes: Buffer, position: number): void {
  const cursor = scannerAt(bytes, position)
  if (skipSpace(cursor) !== CLOSE_OBJECT) throw new SyntaxError('the object does not end')
  cursor.position += 1
  if (skipSpace(cursor) !== -1) throw new SyntaxError('text after the document')
}
