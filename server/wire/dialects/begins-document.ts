/** Distinguishes a JSON document from a stream of events by the first bytes. */
const OPENING_BRACE = 0x7b
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])
/** A document begins with fewer: they are read several times. */
const SPACES_MAX = 64 * 1024

/** Returns undefined for a chunk that contains only spaces. */
export function beginsDocument(chunk: Buffer): boolean | undefined {
  const start = skipSpaces(chunk)
  return start === chunk.length ? undefined : chunk[start] === OPENING_BRACE
}

const FIELD = /^(?:data|event|id|retry)?:/
const FIELD_BYTES = 'event:'.length

/** Returns true for bytes that begin with a line of an event or with a comment. */
export function beginsEvents(bytes: Buffer): boolean {
  const start = skipSpaces(bytes)
  return FIELD.test(bytes.toString('latin1', start, start + FIELD_BYTES))
}

function skipSpaces(bytes: Buffer): number {
  let at = 0
  while (at < SPACES_MAX && SPACES.has(bytes[at] ?? 0)) at += 1
  return at
}
