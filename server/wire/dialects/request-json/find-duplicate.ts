/** Finds duplicate keys in nested objects of a request, which the scan does not record. */
import type { JsonObject } from '../../../base/lib/json.ts'
import {
  CLOSING,
  COMMA,
  foldKey,
  type JsonFields,
  type JsonMember,
  OPENING,
  readKey,
  scannerAt,
  skipSpace,
  skipValue,
} from '../json-scan.ts'

type Cursor = ReturnType<typeof scannerAt>

/**
 * Returns the first top-level member in which an object has a duplicate key. Parsers disagree on
 * which duplicate counts, so a vendor could serve something that was not priced. JSON.parse keeps
 * only one of them, so the value then has fewer members than the bytes. The arguments of a tool are
 * exempt in conversations: models write them.
 */
export function findInnerDuplicate(
  bytes: Buffer,
  value: JsonObject,
  fields: JsonFields,
): JsonMember | undefined {
  for (const member of fields.values()) {
    if (member.inside < 2 || countMembers(value[member.key]) === member.inside) continue
    if (!CONVERSATIONS.has(member.key)) return member
    if (readKeys(scannerAt(bytes, member.valueStart)) === 'repeated') return member
  }
  return undefined
}

const CONVERSATIONS: ReadonlySet<string> = new Set(['messages', 'input'])

/** `inside`: only the arguments of this object have a duplicate key. */
type Keys = 'unique' | 'inside' | 'repeated'

/** Reads a container of a conversation from its opening on; the body's depth limits recursion. */
function readKeys(cursor: Cursor): Keys {
  const { bytes } = cursor
  const isArray = bytes[cursor.position] === OPENING.array
  cursor.position++
  const folds = new Set<string>()
  let keys: Keys = 'unique'
  let isCall = false
  for (let count = 1; !CLOSING.has(skipSpace(cursor)); count++) {
    const key = isArray ? '' : (readKey(cursor) ?? '')
    if (!isArray && folds.add(foldKey(key)).size < count) keys = 'repeated'
    const { position } = cursor
    const opening = bytes[position]
    if (opening === OPENING.array || opening === OPENING.object) {
      const below = readKeys(cursor)
      if (below !== 'unique' && key === 'input' && keys === 'unique') keys = 'inside'
      else if (below !== 'unique' && key !== 'arguments') keys = 'repeated'
    } else {
      skipValue(cursor)
      if (key === 'type') isCall = CALL.test(bytes.toString('utf8', position, cursor.position))
    }
    if (skipSpace(cursor) === COMMA) cursor.position++
  }
  cursor.position++
  return keys === 'inside' ? (isCall ? 'unique' : 'repeated') : keys
}

/** The type of a block that calls a tool, as JSON. */
const CALL = /tool_use"$/

/** Counts members at any depth. Recursion is limited by the depth of the body. */
function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const one of value) count += countMembers(one)
    return count
  }
  const own = Object.values(value)
  for (const one of own) count += countMembers(one)
  return count + own.length
}
