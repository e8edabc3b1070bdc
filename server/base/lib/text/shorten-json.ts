/**
 * Shortens the long strings of a JSON document, so that parsing it costs only as much as the rest.
 */

const LONG_BYTES = 64 * 1024
/** With more than one quote per this many bytes, this costs as much as parsing. */
const BYTES_PER_QUOTE_MIN = 512
const QUOTE = 0x22
const BACKSLASH = 0x5c
const PLACEHOLDER = Buffer.from('"-"')

/**
 * Returns the document with a dash in place of each string of 64 KB or more, whatever it contains;
 * undefined where there is none, or so many short ones that it would not help.
 */
export function shortenStrings(json: Buffer): Buffer | undefined {
  const parts: Buffer[] = []
  let from = 0
  let open = -1
  let remaining = json.length / BYTES_PER_QUOTE_MIN
  for (let quote = json.indexOf(QUOTE); quote !== -1; quote = json.indexOf(QUOTE, quote + 1)) {
    remaining -= 1
    if (remaining < 0) return undefined
    if (open === -1) {
      open = quote
      continue
    }
    if (isEscaped(json, quote, open)) continue
    if (quote - open >= LONG_BYTES) {
      parts.push(json.subarray(from, open), PLACEHOLDER)
      from = quote + 1
    }
    open = -1
  }
  return from === 0 ? undefined : Buffer.concat([...parts, json.subarray(from)])
}

function isEscaped(json: Buffer, quote: number, open: number): boolean {
  let slash = quote - 1
  while (slash > open && json[slash] === BACKSLASH) slash -= 1
  return (quote - slash) % 2 === 0
}
