/**
 * Recognizes valid events without parsing them. Events of one stream differ in little more than a
 * piece of text, so an event with the same bytes around its text as a parsed one is valid.
 */
export interface FrameTemplate {
  /** Returns the UTF-8 length of the text if all else is as in the learnt frame, else -1. */
  readonly match: (frame: Buffer) => number
  /** Remembers a valid frame; `text` is the only text in it that varies. */
  readonly learn: (frame: Buffer, text: string) => void
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Returns the ways to write JSON keys before their text. */
export function spellKeys(...keys: readonly string[]): readonly Buffer[] {
  return keys.flatMap((key) => [Buffer.from(`"${key}":"`), Buffer.from(`"${key}": "`)])
}

/** `spellings` are those of the JSON keys whose text varies. */
export function createFrameTemplate(spellings: readonly Buffer[]): FrameTemplate {
  let head: Buffer | undefined
  let tail = Buffer.alloc(0)

  return {
    match: (frame) => (head ? measure(frame, head, tail) : -1),
    learn(frame, text) {
      for (const key of spellings) {
        // A key in quotes cannot occur inside a JSON string, where quotes are escaped.
        const found = frame.indexOf(key)
        const start = found + key.length
        const end = found === -1 ? -1 : findQuote(frame, start)
        if (end === -1 || decode(frame, start, end) !== text) continue
        head = Buffer.from(frame.subarray(0, start))
        tail = Buffer.from(frame.subarray(end))
        return
      }
    },
  }
}

function measure(frame: Buffer, head: Buffer, tail: Buffer): number {
  const end = frame.length - tail.length
  const length = end - head.length
  if (length < 0) return -1
  if (frame.compare(tail, 0, tail.length, end, frame.length) !== 0) return -1
  if (frame.compare(head, 0, head.length, 0, head.length) !== 0) return -1
  for (let at = head.length; at < end; at += 1) {
    const byte = frame[at]
    if (byte === QUOTE || byte === BACKSLASH) return measureEscaped(frame, head.length, end)
  }
  return length
}

/**
 * Text with escapes counts with its decoded length; anything but a single string does not match.
 */
function measureEscaped(frame: Buffer, start: number, end: number): number {
  const text = decode(frame, start, end)
  return text === undefined ? -1 : Buffer.byteLength(text)
}

/** Returns the first quote from `start` that no backslash escapes, or -1. */
function findQuote(frame: Buffer, start: number): number {
  for (let at = start; at < frame.length; at += 1) {
    if (frame[at] === QUOTE) return at
    if (frame[at] === BACKSLASH) at += 1
  }
  return -1
}

/** Decodes the bytes between two quotes; undefined if they are not the inside of a JSON string. */
function decode(frame: Buffer, start: number, end: number): string | undefined {
  try {
    const text: unknown = JSON.parse(`"${frame.toString('utf8', start, end)}"`)
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}
