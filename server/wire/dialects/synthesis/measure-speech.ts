/** Measures the speech of a file while it passes: its bytes are all that its answer states. */
import { createMp3Counter } from '../../../base/lib/media/sound/count-mpeg.ts'
import { createOggCounter } from '../../../base/lib/media/sound/count-ogg.ts'
import type { AudioFormat } from './formats.ts'

/** 24 kHz of 16 bits, the samples of this dialect: compressed speech has fewer bytes. */
export const SAMPLE_BYTES_PER_SECOND = 48_000
const WAV = Buffer.from('RIFF')
/** The bytes per second in the header of a WAV file. */
const WAV_RATE_AT = 28
const WAV_HEAD_BYTES = 32

export interface SpeechMeter {
  push(chunk: Buffer): void
  /** Returns undefined for another format than expected, or one that cannot be measured. */
  seconds(): number | undefined
}

export function createSpeechMeter(format: AudioFormat): SpeechMeter {
  switch (format) {
    case 'mp3':
      return knownLength(createMp3Counter())
    case 'opus':
      return knownLength(createOggCounter())
    case 'wav':
      return createWavMeter()
    case 'pcm':
      return createByteMeter()
    default:
      return { push: () => undefined, seconds: () => undefined }
  }
}

/** A length of 0 is that of another format. */
function knownLength({ push, seconds }: ReturnType<typeof createMp3Counter>): SpeechMeter {
  return { push, seconds: () => seconds() || undefined }
}

function createByteMeter(): SpeechMeter {
  let bytes = 0
  return {
    push(chunk) {
      bytes += chunk.length
    },
    seconds: () => bytes / SAMPLE_BYTES_PER_SECOND,
  }
}

/** A stream's header does not state its length: all bytes behind it are audio. */
function createWavMeter(): SpeechMeter {
  let head = Buffer.alloc(0)
  let bytes = 0
  return {
    push(chunk) {
      bytes += chunk.length
      if (head.length < WAV_HEAD_BYTES) {
        head = Buffer.concat([head, chunk.subarray(0, WAV_HEAD_BYTES - head.length)])
      }
    },
    seconds() {
      if (head.length < WAV_HEAD_BYTES || !head.subarray(0, WAV.length).equals(WAV))
        return undefined
      return bytes / (head.readUInt32LE(WAV_RATE_AT) || SAMPLE_BYTES_PER_SECOND)
    },
  }
}
