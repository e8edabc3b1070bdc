/**
 * The chunks of one stream differ in little more than a piece of text. Once a chunk has been
 * parsed and found in order, the bytes around its text are remembered, and a chunk with the same
 * bytes around other plain text is known to be in order without being parsed.
 */
export interface ChunkTemplate {
  readonly head: Buffer
  readonly tail: Buffer
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** The one text of a delta, in the key's spellings with and without a space. */
const TEXT_KEYS = ['content', 'reasoning_content', 'reasoning', 'arguments'].flatMap((key) => [
  Buffer.from(`"${key}":"`),
  Buffer.from(`"${key}": "`),
])

/**
 * Cuts a frame around `text`, the only text of its delta. Undefined when the text is not found.
 * A key in quotes cannot occur inside a JSON string, where quotes are escaped, so the first one
 * found is a key.
 */
export function learnTemplate(frame: Buffer, text: string): ChunkTemplate | undefined {
  for (const key of TEXT_KEYS) {
    const found = frame.indexOf(key)
    if (found === -1) continue
    const start = found + key.length
    const end = findQuote(frame, start)
    if (end === -1 || decode(frame, start, end) !== text) continue
    return { head: Buffer.from(frame.subarray(0, start)), tail: Buffer.from(frame.subarray(end)) }
  }
  return undefined
}

/** The first quote from `start` that no backslash escapes, or -1. */
function findQuote(frame: Buffer, start: number): number {
  for (let at = start; at < frame.length; at += 1) {
    if (frame[at] === QUOTE) return at
    if (frame[at] === BACKSLASH) at += 1
  }
  return -1
}

/** The string that these bytes are the inside of, or undefined. */
function decode(frame: Buffer, start: number, end: number): string | undefined {
  try {
    const text: unknown = JSON.parse(`"${frame.toString('utf8', start, end)}"`)
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}

/** The UTF-8 length of the frame's text when all else equals the template, or -1. */
export function matchTemplate({ head, tail }: ChunkTemplate, frame: Buffer): number {
  const end = frame.length - tail.length
  const length = end - head.length
  if (length < 0) return -1
  if (frame.compare(tail, 0, tail.length, end, frame.length) !== 0) return -1
  if (frame.compare(head, 0, head.length, 0, head.length) !== 0) return -1
  for (let at = head.length; at < end; at += 1) {
    const byte = frame[at]
    if (byte === QUOTE || byte === BACKSLASH) return decodeLength(frame, head.length, end)
  }
  return length
}

/** Text with escapes is as long as what they stand for; anything but one string is no match. */
function decodeLength(frame: Buffer, start: number, end: number): number {
  const text = decode(frame, start, end)
  return text === undefined ? -1 : Buffer.byteLength(text)
}
