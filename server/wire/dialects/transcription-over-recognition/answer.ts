/**
 * Reads an answer of recognition 2.0 into a transcript
 * (docs/protocols/volcengine-recognition.md#query).
 */
import { asString, type JsonObject, member } from '../../../base/lib/json.ts'
import {
  joinSentences,
  listObjects,
  type RecognisedSentence,
  readDurationMs,
  readSentence,
} from '../minutes/read-sentences.ts'
import type { Segment, SpokenWord, Transcript } from '../transcription/transcript.ts'

const HAN = /\p{Script=Han}/u

/** Returns the transcript of a recording without speech. */
export function emptyTranscript(language: string | undefined): Transcript {
  return { text: '', language: language ?? '', seconds: 0, segments: [] }
}

/** Returns the transcript. `language` is the one that the caller named. */
export function readTranscript(document: JsonObject, language: string | undefined): Transcript {
  const sentences = listObjects(member(document.result, 'utterances')).map(readSentence)
  const text = asString(member(document.result, 'text')) ?? joinSentences(sentences)
  const durationMs = readDurationMs(member(document.audio_info, 'duration'), sentences)
  return {
    text,
    language: language ?? (HAN.test(text) ? 'zh' : 'en'),
    ...(durationMs === undefined ? {} : { seconds: durationMs / 1000 }),
    segments: sentences.map(toSegment),
  }
}

function toSegment(sentence: RecognisedSentence): Segment {
  const { text, start_ms: startMs, end_ms: endMs, words = [] } = sentence
  return { text, start: startMs / 1000, end: endMs / 1000, words: placeWords(words, startMs) }
}

/** Places words without a time, which read as zero, at the end of the word before them. */
function placeWords(
  words: NonNullable<RecognisedSentence['words']>,
  startMs: number,
): SpokenWord[] {
  let lastMs = startMs
  return words.map(({ text, start_ms: wordMs, end_ms: endMs }) => {
    const fromMs = Math.max(wordMs, lastMs)
    lastMs = Math.max(endMs, fromMs)
    return { word: text, start: fromMs / 1000, end: lastMs / 1000 }
  })
}
