/** Reads the JSON that a request holds inside of its texts, such as arguments of earlier calls. */
import { EXACT_BYTES_MAX, LONG, tryParseExact } from './exact-numbers.ts'
import { isSpace, skipString } from './json/json-string.ts'
import { isTooDeep, LONG_NAME_BYTES, tryParseJson } from './json.ts'

/** Values and different names in all texts of one request: the limits of bodies bound none. */
const VALUES_MAX = 200_000
const NAMES_MAX = 20_000

const QUOTE = 0x22
const COLON = 0x3a
/** Each begins a value, but for the first of an object or a list. */
const SIGNS = new Uint8Array(256)
for (const byte of Buffer.from('{[,')) SIGNS[byte] = 1

/** Returns undefined for what is to stay text; see createInnerReader. */
export type ReadInner = (text: string) => unknown

/**
 * Returns a reader of the texts of one request, which may have any number of them. It parses as
 * `tryParseExact`, whose limit of 512 KiB is for all texts with long integers together. It returns
 * undefined for invalid JSON, for a long name, for values nested deeper than `JSON.stringify` can
 * be trusted with, and where the request would have more values or names than a body may have.
 */
export function createInnerReader(): ReadInner {
  const room = new Room()
  let left = EXACT_BYTES_MAX
  return (text) => {
    const bytes = Buffer.from(text)
    if (!room.take(bytes)) return undefined
    const isExact = LONG.test(text) && bytes.length <= left
    if (isExact) left -= bytes.length
    const value = isExact ? tryParseExact(bytes) : tryParseJson(bytes)
    return isTooDeep(value) ? undefined : value
  }
}

/** The values and names that are left for further texts of a request. */
class Room {
  private values = VALUES_MAX
  private readonly names = new Set<string>()

  /** Returns false for a text that does not fit. */
  take(json: Buffer): boolean {
    let values = 0
    for (let at = 0; at < json.length; ) {
      if (json[at] === QUOTE) {
        const start = at
        at = skipString(json, start)
        if (at === -1 || !this.takeName(json, start, at)) return false
      } else {
        values += SIGNS[json[at] ?? 0] ?? 0
        if (values > this.values) return false
        at += 1
      }
    }
    this.values -= values
    return true
  }

  /** Once there are too many, each further text with a new name is refused at that name. */
  private takeName(json: Buffer, start: number, end: number): boolean {
    let at = end
    while (isSpace(json[at])) at += 1
    if (json[at] !== COLON) return true
    if (end - start > LONG_NAME_BYTES) return false
    const name = json.toString('latin1', start, end)
    if (this.names.size === NAMES_MAX) return this.names.has(name)
    this.names.add(name)
    return true
  }
}
