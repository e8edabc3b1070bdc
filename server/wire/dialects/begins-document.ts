/** Distinguishes a JSON document from a stream of events by the first byte. */
const OPENING_BRACE = 0x7b
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])

/** Returns undefined for a chunk that contains only spaces. */
export function beginsDocument(chunk: Buffer): boolean | undefined {
  const first = chunk.find((byte) => !SPACES.has(byte))
  return first === undefined ? undefined : first === OPENING_BRACE
}
