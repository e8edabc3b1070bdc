// Sentences with the times of their words, in seconds from the start of the session.
import type { Syllable, Timeline } from './audio/timeline.ts'
import { joinWords } from './audio/words.ts'

interface Sentence {
  /** The unit in which its last word ends. */
  end: number
  line: Record<string, unknown>
}

export const ENDS_SENTENCE = /[。！？.!?…]["'”’）)]*$/u

export function sentencesOf(timeline: Timeline): Sentence[] {
  const sentences: Sentence[] = []
  let words: Syllable[] = []
  for (const syllable of timeline.syllables) {
    words.push(syllable)
    if (ENDS_SENTENCE.test(syllable.word) || syllable === timeline.syllables.at(-1)) {
      sentences.push(sentenceOf(words, timeline))
      words = []
    }
  }
  return sentences
}

function sentenceOf(words: Syllable[], timeline: Timeline): Sentence {
  const seconds = (units: number) => Math.round(units * timeline.unitSeconds * 1000) / 1000
  const sentence = {
    phonemes: [],
    text: joinWords(words.map((syllable) => syllable.word)),
    words: words.map((syllable) => ({
      word: syllable.word,
      startTime: seconds(syllable.start),
      endTime: seconds(syllable.end),
      confidence: 0.95,
    })),
  }
  return { end: words.at(-1)?.end ?? 0, line: { code: 0, message: '', data: null, sentence } }
}
