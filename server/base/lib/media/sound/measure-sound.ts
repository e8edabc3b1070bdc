/**
 * Measures a recording by what a decoder would produce from its bytes, whatever its headers state.
 * Callers are charged by the length, which headers of live recordings do not state.
 */
import { readTagBytes, TAG_HEAD_BYTES } from '../mpeg-frame.ts'
import type { Window } from '../open-window.ts'
import { type Reader, readWindow } from '../reader.ts'
import { createFrameCounter, type FrameCounter } from './codecs/count-frames.ts'
import { ADTS, AMR, AMR_WIDE } from './codecs/frame-formats.ts'
import { createMp3Counter } from './count-mpeg.ts'
import { createOggCounter } from './count-ogg.ts'
import { readMatroskaSound } from './matroska/read-matroska-sound.ts'
import { readMp4Sound } from './mp4/read-mp4-sound.ts'
import { readPieces } from './pieces.ts'
import { readAiffSound } from './read-aiff-sound.ts'
import { readFlacSound } from './read-flac-sound.ts'
import { readMpegSound } from './read-mpeg-sound.ts'
import { readWavSound } from './read-wav-sound.ts'
import { SNIFFED_SOUND_BYTES, sniffSound } from './sniff-sound.ts'
import { UnreadableSound } from './unreadable-sound.ts'

export interface SoundLength {
  /** Undefined if the length is not known. */
  readonly seconds: number | undefined
  /**
   * The reason why a recording of a known container is not measured, after the word `file`.
   * Undefined also for a file that is not a known type of recording.
   */
  readonly fault?: string
}

/** Reads the whole file. Rejects if it cannot be read. */
export async function measureSound(window: Window): Promise<SoundLength> {
  try {
    return { seconds: await readWindow(window, readSound(window.bytes)) }
  } catch (error) {
    if (!(error instanceof UnreadableSound)) throw error
    return { seconds: undefined, fault: error.message }
  }
}

function* readSound(to: number): Reader<number | undefined> {
  const from = yield* skipTags()
  const kind = sniffSound(yield { at: from, count: SNIFFED_SOUND_BYTES })
  switch (kind) {
    case 'wav':
      return yield* readWavSound(from, to)
    case 'aiff':
      return yield* readAiffSound(from, to)
    case 'flac':
      return yield* readFlacSound(from, to)
    case 'mp4':
      return yield* readMp4Sound(from, to)
    case 'matroska':
      return yield* readMatroskaSound(from, to)
    case 'mpeg':
      return yield* readMpegSound(from, to)
    case 'ogg':
      return yield* count(createOggCounter(), from, to)
    case 'aac':
      return yield* count(createFrameCounter(ADTS), from, to)
    case 'amr':
      return yield* count(createFrameCounter(AMR), from + '#!AMR\n'.length, to)
    case 'amr-wide':
      return yield* count(createFrameCounter(AMR_WIDE), from + '#!AMR-WB\n'.length, to)
    case undefined:
      return yield* findFrames(from, to)
    default:
      throw new UnreadableSound(`is ${kind}, whose length is not read`)
  }
}

/** Skips ID3 tags, of which there may be several, and which other files than MP3 have as well. */
function* skipTags(): Reader<number> {
  for (let at = 0; ; ) {
    const bytes = readTagBytes(yield { at, count: TAG_HEAD_BYTES })
    if (bytes === undefined) return at
    at += bytes
  }
}

/** Frames of MPEG audio and of AAC have no mark, and players find them behind other content. */
function* findFrames(from: number, to: number): Reader<number | undefined> {
  const counters = [createMp3Counter(), createFrameCounter(ADTS)]
  yield* readPieces(from, to, (piece) => {
    for (const counter of counters) counter.push(piece)
  })
  return Math.max(...counters.map((counter) => counter.seconds())) || undefined
}

function* count(
  counter: Pick<FrameCounter, 'push' | 'seconds'>,
  from: number,
  to: number,
): Reader<number> {
  yield* readPieces(from, to, counter.push)
  return counter.seconds()
}
