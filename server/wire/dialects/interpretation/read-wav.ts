/**
 * Checks a WAV file as it arrives and finds its samples, keeping no more than one format chunk.
 * Accepts only 16 kHz, mono, 16-bit PCM, the input format of interpretation.
 */
import {
  type FoundSamples,
  findWavFormat,
  findWavSamples,
  WavFault,
} from '../../../base/lib/media/read-wav.ts'
import { createStreamReader, type Reader } from '../../../base/lib/media/reader.ts'
import { sniffType } from '../../../base/lib/media/sniff-type.ts'
import { describeWavFormat } from '../../../base/lib/media/wav-format.ts'
import { InvalidRequest } from '../invalid-request.ts'

const SAMPLES_PER_SECOND = 16_000
export const BYTES_PER_SECOND = SAMPLES_PER_SECOND * 2

const NEEDED = 'needs wav audio of 16 kHz, mono, 16-bit PCM'

/** The position and the length of the samples, in bytes. */
export interface Samples {
  readonly start: number
  readonly bytes: number
}

export interface WavReader {
  /**
   * Reads the next bytes. Throws InvalidRequest as soon as the file is known to be of another kind.
   */
  push(chunk: Uint8Array): void
  /** Ends the file, which may be cut off. Throws InvalidRequest where it has no samples. */
  end(): Samples
}

/** Creates a reader. Errors name the field `param`; audio longer than `secondsMax` is refused. */
export function createWavReader(param: string, secondsMax: number): WavReader {
  const reader = createStreamReader(findSpeech(param, secondsMax))
  let position = 0
  return {
    push(chunk) {
      position += chunk.length
      reader.push(chunk)
    },
    end() {
      const { start, declared } = reader.end()
      const available = position - start
      const bytes = Math.min(declared ?? available, available)
      checkLength(param, bytes, secondsMax)
      if (bytes < 2) throw new InvalidRequest(param, 'has no audio in it')
      return { start, bytes: bytes - (bytes % 2) }
    },
  }
}

function* findSpeech(param: string, secondsMax: number): Reader<FoundSamples> {
  try {
    const found = yield* findWavFormat()
    const { format } = found
    const { channels, rate, bits, isPcm } = format
    if (!isPcm || channels !== 1 || rate !== SAMPLES_PER_SECOND || bits !== 16) {
      throw new WavFault(describeWavFormat(format))
    }
    const samples = yield* findWavSamples(found)
    checkLength(param, samples.declared ?? 0, secondsMax)
    return samples
  } catch (error) {
    if (!(error instanceof WavFault)) throw error
    const found = error.head ? describeFile(error.head) : error.message
    throw new InvalidRequest(param, `${NEEDED}; found ${found}`)
  }
}

function checkLength(param: string, bytes: number, secondsMax: number): void {
  const seconds = bytes / BYTES_PER_SECOND
  if (seconds <= secondsMax) return
  const found = `is ${Math.ceil(seconds)} s long, more than ${secondsMax} s`
  throw new InvalidRequest(param, found)
}

const NAMES: Readonly<Record<string, string>> = {
  'video/x-msvideo': 'an AVI file',
  'audio/aac': 'an AAC file',
  'audio/mpeg': 'an MP3 file',
  'audio/ogg': 'an Ogg file',
  'audio/flac': 'a FLAC file',
  'audio/mp4': 'an MP4 file',
  'video/mp4': 'an MP4 file',
  'video/quicktime': 'an MP4 file',
  'video/webm': 'a WebM file',
}
/** Forms of recordings that have no type of their own here. */
const MARKS: readonly (readonly [string, string])[] = [
  ['RIFX', 'a big-endian wav file'],
  ['FORM', 'an AIFF file'],
  ['#!AMR', 'an AMR file'],
]

function describeFile(head: Buffer): string {
  if (head.length === 0) return 'an empty file'
  const text = head.toString('latin1')
  const [, markName] = MARKS.find(([mark]) => text.startsWith(mark)) ?? []
  return markName ?? NAMES[sniffType(head)] ?? 'no wav file'
}
