/**
 * Measures a WAV file by the samples that are there: their size and rate, whatever its header says
 * of bytes per second. Several chunks of samples follow one another.
 */
import { findSampleChunks, WavFault } from '../read-wav.ts'
import type { Reader } from '../reader.ts'
import type { WavFormat } from '../wav-format.ts'
import { createFrameCounter, type FrameCounter } from './codecs/count-frames.ts'
import { MPEG } from './codecs/frame-formats.ts'
import { readPieces } from './pieces.ts'
import { UnreadableSound } from './unreadable-sound.ts'

const MICROSOFT_ADPCM = 2
const IMA_ADPCM = 0x11
const GSM = 0x31
const MPEG_TAGS: ReadonlySet<number> = new Set([0x50, 0x55])
const GSM_BYTES = 65
const GSM_SAMPLES = 320
const CHUNKS_MAX = 100_000

/** Reads a file whose `RIFF` stands at `from`. */
export function* readWavSound(from: number, to: number): Reader<number> {
  try {
    const { format, chunks } = yield* findSampleChunks(from, to, CHUNKS_MAX)
    if (MPEG_TAGS.has(format.tag)) {
      const counter: FrameCounter = createFrameCounter(MPEG)
      for (const { start, end } of chunks) yield* readPieces(start, end, counter.push)
      return counter.seconds()
    }
    const block = openBlock(format)
    let samples = 0
    for (const { start, end } of chunks) samples += block.samplesOf(end - start)
    return samples / format.rate
  } catch (error) {
    if (error instanceof WavFault) throw new UnreadableSound(`is ${error.message}`)
    throw error
  }
}

/** Compressed sound is made of blocks, of which the last may be cut off. */
function openBlock(format: WavFormat) {
  const { tag, channels, rate, bits, blockBytes, sampleBytes } = format
  if (sampleBytes) return { samplesOf: (bytes: number) => Math.floor(bytes / sampleBytes) }
  const whole = channels === 0 ? 0 : samplesOfBlock(tag, channels, bits, blockBytes)
  if (rate === 0 || blockBytes === 0 || whole <= 0) {
    throw new WavFault(`a wav file of a codec that is not read (0x${tag.toString(16)})`)
  }
  const samplesOf = (bytes: number) => {
    const rest = samplesOfBlock(tag, channels, bits, bytes % blockBytes)
    return Math.floor(bytes / blockBytes) * whole + Math.max(0, rest)
  }
  return { samplesOf }
}

/** Returns 0 for other codecs. */
function samplesOfBlock(tag: number, channels: number, bits: number, bytes: number): number {
  switch (tag) {
    case MICROSOFT_ADPCM:
      return 2 + Math.floor(((bytes - 7 * channels) * 2) / channels)
    case IMA_ADPCM:
      return bits < 2 ? 0 : 1 + Math.floor((bytes - 4 * channels) / (bits * channels)) * 8
    case GSM:
      return Math.floor(bytes / GSM_BYTES) * GSM_SAMPLES
    default:
      return 0
  }
}
