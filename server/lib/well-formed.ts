/**
 * JSON text that every parser reads: a lone surrogate, half of an emoji that a client cut in two,
 * cannot be written as UTF-8 and becomes U+FFFD.
 */
export function stringifyWellFormed(value: unknown): string {
  const text = JSON.stringify(value)
  // JSON.stringify escapes lone surrogates and no others: nearly always there is none.
  return text.includes('\\ud') ? JSON.stringify(value, replaceLoneSurrogates) : text
}

function replaceLoneSurrogates(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value
}

/** U+0000 and lone surrogates as JSON.stringify writes them; any other escape is passed over. */
const UNSTORABLE = /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/gs

/**
 * JSON text that the database takes as jsonb. It knows neither U+0000 nor half of a surrogate pair,
 * but a caller can write both and a vendor can send them back: they become U+FFFD.
 */
export function stringifyStorable(value: unknown): string {
  const text = JSON.stringify(value)
  if (!text.includes('\\u0000') && !text.includes('\\ud')) return text
  return text.replace(UNSTORABLE, (found) => (found.length === 6 ? '\ufffd' : found))
}

/** The same for text that is no JSON; lone surrogates become U+FFFD when they are encoded. */
export function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}
