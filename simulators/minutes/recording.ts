// The recording of a task: its length, its problems, and its spoken text.
import type { Exchange } from '../kernel/exchange.ts'
import { type ProbeProblem, probe } from '../media/probe.ts'
import type { SpokenWord } from '../openspeech/audio/listen.ts'
import { joinWords } from '../openspeech/audio/words.ts'
import { ENDS_SENTENCE } from '../openspeech/subtitles.ts'

export interface Recording {
  address: string
  /** False until its length is known. */
  ready: boolean
  seconds: number
  silent: boolean
  /** The text spoken by a simulator, else empty. */
  words: SpokenWord[]
  problem: ProbeProblem | undefined
}

/** Begins to inspect the file; `media-seconds` sets its length without an inspection. */
export function openRecording(exchange: Exchange, address: string): Recording {
  const recording: Recording = {
    address,
    ready: false,
    seconds: 0,
    silent: false,
    words: [],
    problem: undefined,
  }
  const statedSeconds = exchange.scenario.number('media-seconds')
  if (statedSeconds !== undefined)
    return Object.assign(recording, { ready: true, seconds: statedSeconds })
  void probe(address).then((found) => {
    Object.assign(recording, found, { ready: true })
  })
  return recording
}

/** Returns the directives in the URL of a recording, escaped or not. */
export function directivesIn(address: string): string {
  try {
    return decodeURIComponent(address)
  } catch {
    return address
  }
}

export interface Sentence {
  index: number
  startMs: number
  endMs: number
  speaker: number
  text: string
  words: { text: string; startMs: number; endMs: number }[]
}

const SENTENCE_MS = 10_000
const PAUSE_MS = 500
const MOST_SENTENCES = 1000

/**
 * Returns a sentence every ten seconds, with alternating speakers; the last one ends with the
 * recording.
 */
export function sentencesOf(seconds: number, language: string, speakers: number): Sentence[] {
  const total = Math.round(seconds * 1000)
  const count = Math.min(MOST_SENTENCES, Math.max(1, Math.ceil(total / SENTENCE_MS)))
  const each = total / count
  return Array.from({ length: count }, (_, index) => {
    const startMs = Math.round(index * each)
    const endMs = index === count - 1 ? total : Math.round((index + 1) * each) - PAUSE_MS
    const text = sentenceText(index + 1, language)
    const words = wordsOf(text, startMs, endMs)
    return { index, startMs, endMs, speaker: (index % Math.max(1, speakers)) + 1, text, words }
  })
}

/** Returns the actual text, if known, with alternating speakers. */
export function recognisedSentences({ words }: Recording, speakers: number): Sentence[] {
  const sentences: Sentence[] = []
  let open: SpokenWord[] = []
  for (const word of words) {
    open.push(word)
    if (!ENDS_SENTENCE.test(word.word) && word !== words.at(-1)) continue
    const index = sentences.length
    sentences.push(recognisedSentence(index, (index % speakers) + 1, open))
    open = []
  }
  return sentences
}

const ms = (seconds: number): number => Math.round(seconds * 1000)

function recognisedSentence(index: number, speaker: number, spoken: SpokenWord[]): Sentence {
  const words = spoken.map(({ word, start, end }) => {
    return { text: word, startMs: ms(start), endMs: ms(end) }
  })
  return {
    index,
    speaker,
    words,
    text: joinWords(spoken.map(({ word }) => word)),
    startMs: words[0]?.startMs ?? 0,
    endMs: words.at(-1)?.endMs ?? 0,
  }
}

export function sentenceText(number: number, language: string): string {
  if (language.startsWith('zh')) return `这是录音的第${number}句话。`
  return `This is sentence ${number} of the recording.`
}

function wordsOf(text: string, startMs: number, endMs: number): Sentence['words'] {
  const words = text.match(/[\u4e00-\u9fff]|[A-Za-z]+|\d+/g) ?? []
  const each = (endMs - startMs) / Math.max(1, words.length)
  return words.map((word, index) => {
    const at = startMs + index * each
    return { text: word, startMs: Math.round(at), endMs: Math.round(at + each) }
  })
}
