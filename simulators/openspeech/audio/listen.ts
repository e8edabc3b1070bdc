// Finds the text and timing of speech in a file of these simulators.
import { mp3Frames, mp3SamplesInFrame } from './count.ts'
import { joinWords, SampleListener, wordsInBytes } from './words.ts'

export interface SpokenWord {
  word: string
  start: number
  end: number
}

export interface Recording {
  seconds: number
  words: SpokenWord[]
  text: string
}

const WORD_SECONDS = 0.12
const OPUS_RATE = 48_000

/** Returns undefined for a file of an unknown kind. */
export function listen(file: Buffer): Recording | undefined {
  const tag = file.toString('latin1', 0, 4)
  if (tag === 'RIFF') return listenToWav(file)
  if (tag === 'OggS') {
    const page = file.lastIndexOf('OggS')
    return byPosition(file, Number(file.readBigInt64LE(page + 6)) / OPUS_RATE)
  }
  const sound = tag.startsWith('ID3') ? file.subarray(tagBytes(file)) : file
  if (sound[0] !== 0xff) return undefined
  try {
    const frames = mp3Frames(sound)
    const rate = frames[0]?.sampleRate ?? 1
    return byPosition(sound, (frames.length * mp3SamplesInFrame(rate)) / rate)
  } catch {
    return undefined
  }
}

/** Returns the size of the tag before an MP3: seven bits of each byte count. */
function tagBytes(file: Buffer): number {
  return [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((file[at] ?? 0) & 0x7f), 0) + 10
}

function listenToWav(file: Buffer): Recording | undefined {
  const format = file.indexOf('fmt ')
  const at = file.indexOf('data')
  if (format < 0 || at < 0 || file.length < format + 24) return undefined
  const rate = file.readUInt32LE(format + 12)
  if (rate === 0 || file.readUInt16LE(format + 22) !== 16) return undefined
  const samples = file.subarray(at + 8)
  const words = new SampleListener().push(samples)
  const timed = words.map((one) => ({ word: one.word, start: one.at / rate }))
  return recordingOf(timed, samples.length / 2 / rate)
}

/** Both kinds have an approximately constant rate. */
function byPosition(file: Buffer, seconds: number): Recording {
  const words = wordsInBytes(file)
  const timed = words.map(({ word, at }) => ({ word, start: (at / file.length) * seconds }))
  return recordingOf(timed, seconds)
}

function recordingOf(timed: { word: string; start: number }[], seconds: number): Recording {
  const round = (value: number) => Math.round(value * 1000) / 1000
  const words = timed.map(({ word, start }) => ({
    word,
    start: round(start),
    end: round(Math.min(seconds, start + WORD_SECONDS)),
  }))
  return { seconds: round(seconds), words, text: joinWords(words.map(({ word }) => word)) }
}
