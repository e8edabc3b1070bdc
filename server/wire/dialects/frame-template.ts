/**
 * Recognizes valid events without parsing them. Events of one stream differ in little more than a
 * piece of text and the padding that hides its length, so an event with the same bytes around them
 * as a parsed one is valid.
 */
export interface FrameTemplate {
  /**
   * Returns the end of the events that are as the learnt one in all but their text and padding. The
   * first of them begins at `start`, which is returned if there is none.
   */
  readonly skip: (bytes: Buffer, start: number) => number
  /** Remembers a valid frame; `text` is the only text in it that varies, apart from padding. */
  readonly learn: (frame: Buffer, text: string) => void
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20
/** An event without one of these ends is the last of its body. */
const EVENT_END = /\n\r?\n$/
const NOTHING: Buffer = Buffer.alloc(0)
/** Members of `reasoning_details`, which repeat the text. */
const REPEAT_KEYS = spellKeys('text', 'summary')
/** Members that pad events: OpenAI's, and Mistral's. Nothing in an event is read from them. */
const PADDING_KEYS = spellKeys('obfuscation', 'p')

/** A place behind the text of an event that varies as well. */
interface Gap {
  /** The bytes between what varied before it and this. */
  readonly before: Buffer
  /** True for the same text again, false for padding. */
  readonly isRepeat: boolean
}

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
  let gaps: readonly Gap[] = []
  let tail = NOTHING
  /** The bytes from the end of what varies in an event to the text of the next. */
  let between = NOTHING

  /** Returns the end of all that varies in an event with this text, or -1. */
  function findTail(bytes: Buffer, textStart: number, textEnd: number): number {
    let end = textEnd
    for (const { before, isRepeat } of gaps) {
      if (!standsAt(before, bytes, end)) return -1
      const start = end + before.length
      if (isRepeat) end = findRepeatEnd(bytes, textStart, textEnd, start)
      else end = findPaddingEnd(bytes, start)
    }
    return end
  }

  return {
    skip(bytes, start) {
      if (!head || !standsAt(head, bytes, start)) return start
      let end = start
      for (let at = start + head.length; ; at = end + head.length) {
        const textEnd = findTextEnd(bytes, at)
        const tailStart = findTail(bytes, at, textEnd)
        const goesOn = standsAt(between, bytes, tailStart)
        if (!goesOn && !standsAt(tail, bytes, tailStart)) return end
        const textBytes = measure(bytes, at, textEnd)
        if (textBytes === -1) return end
        onText(textBytes)
        end = tailStart + tail.length
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
        const behind = findGaps(Buffer.from(frame.subarray(end)), frame.subarray(start, end))
        gaps = behind.gaps
        tail = behind.tail
        between = Buffer.concat([tail, head])
        return
      }
    },
  }
}

/** Divides what follows a text into what varies with it, and the bytes behind that. */
function findGaps(rest: Buffer, text: Buffer): { gaps: readonly Gap[]; tail: Buffer } {
  const gaps: Gap[] = []
  let from = 0
  for (const key of REPEAT_KEYS) {
    const start = rest.indexOf(key) + key.length
    const end = start + text.length
    if (start < key.length || !standsAt(text, rest, start) || rest[end] !== QUOTE) continue
    gaps.push({ before: rest.subarray(0, start), isRepeat: true })
    from = end
    break
  }
  for (const key of PADDING_KEYS) {
    const start = rest.lastIndexOf(key) + key.length
    const end = start < from + key.length ? -1 : findTextEnd(rest, start)
    if (end === -1) continue
    return {
      gaps: [...gaps, { before: rest.subarray(from, start), isRepeat: false }],
      tail: rest.subarray(end),
    }
  }
  return { gaps, tail: rest.subarray(from) }
}

/** Returns the end of the text that begins again at `start`; -1 if another text stands there. */
function findRepeatEnd(bytes: Buffer, from: number, to: number, start: number): number {
  const end = start + to - from
  return end <= bytes.length && bytes.compare(bytes, from, to, start, end) === 0 ? end : -1
}

/** Returns the end of the padding from `start`; -1 if it is not the inside of a JSON string. */
function findPaddingEnd(bytes: Buffer, start: number): number {
  const end = findTextEnd(bytes, start)
  return end !== -1 && measure(bytes, start, end) !== -1 ? end : -1
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
