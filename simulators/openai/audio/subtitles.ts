// Formats recognised text as subtitles, one for each sentence.
import type { Json } from '../../kernel/checks.ts'
import type { Recording, SpokenWord } from '../../openspeech/audio/listen.ts'
import { joinWords } from '../../openspeech/audio/words.ts'
import { ENDS_SENTENCE } from '../../openspeech/subtitles.ts'

interface Subtitle {
  start: number
  end: number
  text: string
}

function subtitlesOf({ words }: Recording): Subtitle[] {
  const subtitles: Subtitle[] = []
  let open: SpokenWord[] = []
  for (const word of words) {
    open.push(word)
    if (!ENDS_SENTENCE.test(word.word) && word !== words.at(-1)) continue
    const text = joinWords(open.map((one) => one.word))
    subtitles.push({ start: open[0]?.start ?? 0, end: word.end, text })
    open = []
  }
  return subtitles
}

export function segmentsOf(recording: Recording): Json[] {
  return subtitlesOf(recording).map((one, id) => ({
    id,
    seek: 0,
    ...one,
    tokens: [],
    temperature: 0,
    avg_logprob: -0.1,
    compression_ratio: 1,
    no_speech_prob: 0.01,
  }))
}

export function writeSrt(recording: Recording): string {
  return subtitlesOf(recording)
    .map((one, index) => `${index + 1}\n${span(one, ',')}\n${one.text}\n\n`)
    .join('')
}

export function writeVtt(recording: Recording): string {
  const cues = subtitlesOf(recording).map((one) => `${span(one, '.')}\n${one.text}\n\n`)
  return `WEBVTT\n\n${cues.join('')}`
}

const span = ({ start, end }: Subtitle, point: string) =>
  `${clock(start, point)} --> ${clock(end, point)}`

function clock(seconds: number, point: string): string {
  const text = new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23)
  return text.replace('.', point)
}
