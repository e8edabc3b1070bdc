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
  let translatedBytes = 0
  const keep = (sentences: string[], text: string) => {
    length += text.length
    if (length > LENGTH_MAX) return false
    sentences.push(text)
    return true
  }
  return {
    addSource: (text) => keep(sourceSentences, text),
    addTranslation(text) {
      if (!keep(translatedSentences, text)) return false
      translatedBytes += Buffer.byteLength(text)
      return true
    },
    texts: () => ({ text: join(translatedSentences), source_text: join(sourceSentences) }),
    bytes: () => translatedBytes,
  }
}

/** Joins sentences, with a space between those of scripts that use spaces. */
function join(sentences: readonly string[]): string {
  let text = ''
  let end = ''
  for (const sentence of sentences) {
    const added = gapBetween(end, sentence) + sentence
    text += added
    // Two units, of which the last character may consist.
    end = (end + added.slice(-2)).slice(-2)
  }
  return text
}

function gapBetween(before: string, after: string): string {
  const last = [...before].at(-1) ?? ''
  if (last === '' || after === '' || /\s/.test(last) || /^\s/.test(after)) return ''
  const [first = ''] = after.slice(0, 2)
  return SPACELESS.test(last) || SPACELESS.test(first) ? '' : ' '
}
