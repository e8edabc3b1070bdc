/** Keeps the sentences of one session: the source and its translation. */

/** Characters; hours of speech are a fraction of them. */
const LENGTH_MAX = 1024 * 1024

/** Scripts and punctuation beside which no space is written. */
const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\u3000-\u303f\uff00-\uffef]/u

export interface TranscriptLimit {
  /** Adds a source sentence; returns false beyond the limit of text. */
  addSource(text: string): boolean
  addTranslation(text: string): boolean
  texts(): { readonly text: string; readonly source_text: string }
  /** UTF-8 bytes of the translation. */
  bytes(): number
}

export function createTranscript(): TranscriptLimit {
  const sourceSentences: string[] = []
  const translatedSentences: string[] = []
  let length = 0
  const keep = (sentences: string[], text: string) => {
    length += text.length
    if (length > LENGTH_MAX) return false
    sentences.push(text)
    return true
  }
  return {
    addSource: (text) => keep(sourceSentences, text),
    addTranslation: (text) => keep(translatedSentences, text),
    texts: () => ({ text: join(translatedSentences), source_text: join(sourceSentences) }),
    bytes: () => translatedSentences.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
  }
}

/** Joins sentences, with a space between those of scripts that use spaces. */
function join(sentences: readonly string[]): string {
  return sentences.reduce((text, sentence) => text + gapBetween(text, sentence) + sentence, '')
}

function gapBetween(before: string, after: string): string {
  if (before === '' || after === '' || /\s$/.test(before) || /^\s/.test(after)) return ''
  const last = [...before.slice(-2)].at(-1) ?? ''
  const [first = ''] = after.slice(0, 2)
  return SPACELESS.test(last) || SPACELESS.test(first) ? '' : ' '
}
