/** Detects the end of a JSON object whose text arrives in pieces. */
export interface JsonDepth {
  readonly feed: (text: string) => void
  /** True from the closing brace; false for text that never opened an object. */
  readonly isComplete: () => boolean
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN = new Set([0x7b, 0x5b])
const CLOSE = new Set([0x7d, 0x5d])

/** Counts braces outside strings: no parsing, no memory, one pass over the characters. */
export function createJsonDepth(): JsonDepth {
  let depth = 0
  let opened = false
  let inString = false
  let escaped = false

  function readInString(code: number): void {
    if (escaped) escaped = false
    else if (code === BACKSLASH) escaped = true
    else if (code === QUOTE) inString = false
  }

  return {
    feed(text) {
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at)
        if (inString) readInString(code)
        else if (code === QUOTE) inString = true
        else if (OPEN.has(code)) {
          depth += 1
          opened = true
        } else if (CLOSE.has(code)) depth -= 1
      }
    },
    isComplete: () => opened && depth <= 0 && !inString,
  }
}
