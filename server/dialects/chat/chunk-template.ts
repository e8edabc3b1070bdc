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
/** The one text of a delta, as vendors write it with and without a space. */
const TEXT_KEYS = ['content', 'reasoning_content', 'reasoning'].flatMap((key) => [
  Buffer.from(`"${key}":"`),
  Buffer.from(`"${key}": "`),
])

/**
 * Cuts a frame around `text`, the only text of its delta. Undefined when the text is not found in
 * the frame as it stands. A key in quotes cannot occur inside a JSON string, where quotes are
 * escaped, so the first one found is a key.
 */
export function learnTemplate(frame: Buffer, text: string): ChunkTemplate | undefined {
  const bytes = Buffer.from(text)
  for (const key of TEXT_KEYS) {
    const found = frame.indexOf(key)
    if (found === -1) continue
    const start = found + key.length
    const end = start + bytes.length
    if (frame[end] !== QUOTE || bytes.compare(frame, start, end) !== 0) continue
    return { head: Buffer.from(frame.subarray(0, start)), tail: Buffer.from(frame.subarray(end)) }
  }
  return undefined
}

/** The length in bytes of the frame's text when all else equals the template, or -1. */
export function matchTemplate({ head, tail }: ChunkTemplate, frame: Buffer): number {
  const end = frame.length - tail.length
  const length = end - head.length
  if (length < 0) return -1
  if (frame.compare(tail, 0, tail.length, end, frame.length) !== 0) return -1
  if (frame.compare(head, 0, head.length, 0, head.length) !== 0) return -1
  for (let at = head.length; at < end; at += 1) {
    const byte = frame[at]
    if (byte === QUOTE || byte === BACKSLASH) return -1
  }
  return length
}
