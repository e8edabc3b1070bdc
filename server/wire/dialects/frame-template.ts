/**
 * Recognizes valid events without parsing them. Events of one stream differ in little more than a
 * piece of text, so an event with the same bytes around its text as a parsed one is valid.
 */
export interface FrameTemplate {
  /**
   * Returns the end of the events that are as the learnt one in all but their text. The first of
   * them begins at `start`, which is returned if there is none.
   */
  readonly skip: (bytes: Buffer, start: number) => number
  /** Remembers a valid frame; `text` is the only text in it that varies. */
  readonly learn: (frame: Buffer, text: string) => void
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20
/** An event without one of these ends is the last of its body. */
const EVENT_END = /\n\r?\n$/
const NOTHING = Buffer.alloc(0)

/** Returns the ways to write JSON keys before their text. */
export function spellKeys(...keys: readonly string[]): readonly Buffer[] {
  return keys.flatMap((key) => [Buffer.from(`"${key}":"`), Buffer.from(`"${key}": "`)])
}

/**
 * `spellings` are those of the JSON keys whose text varies. `onText` gets the UTF-8 length of the
 * text of each event that is skipped.
 */
export function createFrameTemplate(
  spellings: readonly Buffer[],
  onText: (textBytes: number) => void,
): FrameTemplate {
  let head: Buffer | undefined
  let tail = NOTHING
  /** The bytes between the texts of two events: one comparison for both sides. */
  let between = NOTHING

  return {
    skip(bytes, start) {
      if (!head || !standsAt(head, bytes, start)) return start
      let end = start
      for (let at = start + head.length; ; at = end + head.length) {
        const textEnd = findTextEnd(bytes, at)
        const goesOn = standsAt(between, bytes, textEnd)
        if (!goesOn && !standsAt(tail, bytes, textEnd)) return end
        const textBytes = measure(bytes, at, textEnd)
        if (textBytes === -1) return end
        onText(textBytes)
        end = textEnd + tail.length
        if (!goesOn) return end
      }
    },
    learn(frame, text) {
      if (!EVENT_END.test(frame.toString('latin1', Math.max(0, frame.length - 3)))) return
      for (const key of spellings) {
        // A key in quotes cannot occur inside a JSON string, where quotes are escaped.
        const found = frame.indexOf(key)
        const start = found + key.length
        const end = found === -1 ? -1 : findTextEnd(frame, start)
        if (end === -1 || decode(frame, start, end) !== text) continue
        head = Buffer.from(frame.subarray(0, start))
        tail = Buffer.from(frame.subarray(end))
        between = Buffer.concat([tail, head])
        return
      }
    },
  }
}

function standsAt(part: Buffer, bytes: Buffer, at: number): boolean {
  const end = at + part.length
  return at >= 0 && end <= bytes.length && bytes.compare(part, 0, part.length, at, end) === 0
}

/**
 * Returns the first quote from `start` that no backslash escapes. Returns -1 without one, or if a
 * control character, which no JSON string may have, comes before it: a line ends within the text.
 */
function findTextEnd(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) return at
    if (byte < SPACE) return -1
    if (byte === BACKSLASH) at += 1
  }
  return -1
}

/** Text with escapes counts in its decoded length; -1 if it is not the inside of a JSON string. */
function measure(bytes: Buffer, start: number, end: number): number {
  for (let at = start; at < end; at += 1) {
    if (bytes[at] !== BACKSLASH) continue
    const text = decode(bytes, start, end)
    return text === undefined ? -1 : Buffer.byteLength(text)
  }
  return end - start
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
