/** Reads hot words, which the recognizer should expect, from a caller's text. */
import { isObject, tryParseJson } from '../../../base/lib/json.ts'

const WORDS_MAX = 1000

/**
 * Returns `[{"word": …}]` of a JSON array of words or of such objects, else of words separated by
 * commas, semicolons or line ends: a word may contain spaces. Undefined without a word.
 */
export function readHotWords(text: unknown): { readonly word: string }[] | undefined {
  if (typeof text !== 'string' || text.trim() === '') return undefined
  const parsed = tryParseJson(Buffer.from(text))
  const words = Array.isArray(parsed)
    ? parsed.map(wordOf)
    : text.split(/[\n\r,;，、；]+/).map((word) => word.trim())
  const known = words.filter((word) => word !== '').slice(0, WORDS_MAX)
  return known.length > 0 ? known.map((word) => ({ word })) : undefined
}

function wordOf(entry: unknown): string {
  if (typeof entry === 'string') return entry
  return isObject(entry) && typeof entry.word === 'string' ? entry.word : ''
}
