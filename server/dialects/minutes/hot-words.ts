/** Words that the recogniser should expect, as callers write them. */
import { isObject, tryParseJson } from '../../lib/json.ts'

const WORDS_MAX = 1000

/**
 * `[{"word": …}]` of a caller's text: a JSON array of words or of such objects, else words parted
 * by commas, semicolons or white space. Undefined when there is none.
 */
export function readHotWords(text: unknown): { readonly word: string }[] | undefined {
  if (typeof text !== 'string' || text.trim() === '') return undefined
  const parsed = tryParseJson(Buffer.from(text))
  const words = Array.isArray(parsed) ? parsed.map(wordOf) : text.split(/[\s,;，、；]+/)
  const known = words.filter((word) => word !== '').slice(0, WORDS_MAX)
  return known.length > 0 ? known.map((word) => ({ word })) : undefined
}

function wordOf(entry: unknown): string {
  if (typeof entry === 'string') return entry
  return isObject(entry) && typeof entry.word === 'string' ? entry.word : ''
}
