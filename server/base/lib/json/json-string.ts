/** Finds the ends of strings in the bytes of JSON. */
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
/** Walking a short string is cheaper than a call of the native search. */
const WALK_BYTES = 32

/** Returns the offset after the closing quote of the string at `open`; -1 without one. */
export function skipString(bytes: Buffer, open: number): number {
  let position = open + 1
  for (;;) {
    const walkEnd = position + WALK_BYTES
    while (position < walkEnd) {
      const byte = bytes[position]
      if (byte === QUOTE) return position + 1
      if (byte === undefined) return -1
      position += byte === BACKSLASH ? 2 : 1
    }
    const quote = bytes.indexOf(QUOTE, position)
    if (quote === -1) return -1
    if (!isEscaped(bytes, quote, position)) return quote + 1
    position = quote + 1
  }
}

/** Returns true if an odd number of backslashes precedes `offset`; `floor` is a clean boundary. */
function isEscaped(bytes: Buffer, offset: number, floor: number): boolean {
  let slash = offset - 1
  while (slash >= floor && bytes[slash] === BACKSLASH) slash--
  return (offset - slash) % 2 === 0
}

/** Returns true if the bytes of a string have an escape. */
export function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true
  return false
}

/** Returns true if a key of the document, which must be JSON, is written with an escape. */
export function hasEscapedKey(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(BACKSLASH); at !== -1; ) {
    // The string that it is in, from its first escape on.
    let end = skipString(bytes, at - 1)
    if (end === -1) return false
    while (isSpace(bytes[end])) end += 1
    if (bytes[end] === COLON) return true
    at = bytes.indexOf(BACKSLASH, end)
  }
  return false
}

export const isSpace = (byte: number | undefined) =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** Returns the text of a key with its quotes, or undefined if it has an invalid escape. */
export function decodeKey(bytes: Buffer, start: number, end: number): string | undefined {
  const raw = bytes.toString('utf8', start + 1, end - 1)
  if (!raw.includes('\\')) return raw
  try {
    return JSON.parse(`"${raw}"`)
  } catch {
    return undefined
  }
}
