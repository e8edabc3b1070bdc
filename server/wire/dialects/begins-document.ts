/** Distinguishes a JSON document from a stream of events by the first bytes. */
const OPENING_BRACE = 0x7b
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])

/** Returns undefined for a chunk that contains only spaces. */
export function beginsDocument(chunk: Buffer): boolean | undefined {
  const first = chunk.find((byte) => !SPACES.has(byte))
  return first === undefined ? undefined : first === OPENING_BRACE
}

const FIELD = /^(?:data|event|id|retry)?:/
const FIELD_BYTES = 'event:'.length

/** Returns true for bytes that begin with a line of an event or with a comment. */
export function beginsEvents(bytes: Buffer): boolean {
  const start = bytes.findIndex((byte) => !SPACES.has(byte))
  return start !== -1 && FIELD.test(bytes.toString('latin1', start, start + FIELD_BYTES))
}
