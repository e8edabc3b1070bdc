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
