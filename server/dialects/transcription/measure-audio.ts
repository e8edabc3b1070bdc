/** Measures the length of a recording and detects its file type while it passes. */
import { createMp3Counter, type Mp3Counter } from '../../lib/media/count-mp3.ts'
import { createOpusCounter, type OpusCounter } from '../../lib/media/count-opus.ts'
import { findWavFormat, WavFault } from '../../lib/media/read-wav.ts'
import { readHead } from '../../lib/media/reader.ts'
import { SNIFFED_BYTES, sniffType } from '../../lib/media/sniff-type.ts'

export interface AudioMeasurement {
  readonly start: number
  readonly bytes: number
  /** Seconds, rounded up; an upper bound where the header does not state them. */
  readonly seconds: number
}

const HEAD_BYTES = 4096
/** Enough for `nameRecording`. */
export const RECORDING_HEAD_BYTES = SNIFFED_BYTES
/** The most that tag writers append after the audio. */
const TAG_BYTES_MAX = 4096
/** The lowest rate that people record speech at: what cannot be measured is held at this. */
export const SLOWEST_BYTES_PER_SECOND = 1000

/** Names whose suffix tells vendors the format. */
const NAMES: Readonly<Record<string, string>> = {
  'audio/wav': 'audio.wav',
  'audio/ogg': 'audio.ogg',
  'audio/flac': 'audio.flac',
  'video/webm': 'audio.webm',
  'audio/mp4': 'audio.m4a',
  'video/mp4': 'audio.mp4',
  'video/quicktime': 'audio.mp4',
  'audio/mpeg': 'audio.mp3',
}

/** Creates an inspector of one file, which keeps only its first bytes. */
export function createAudioMeter() {
  let head: Buffer = Buffer.alloc(0)
  const counters = [
    { name: 'audio.mp3', counter: createMp3Counter() },
    { name: 'audio.ogg', counter: createOpusCounter() },
  ]
  let bytes = 0
  return {
    push(chunk: Buffer): void {
      bytes += chunk.length
      if (head.length < HEAD_BYTES) {
        head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)])
      }
      for (const { name, counter } of counters) if (mayBe(name, head)) counter.push(chunk)
    },
    end(): AudioMeasurement {
      const bound = bytes / SLOWEST_BYTES_PER_SECOND
      const name = nameRecording(head)
      const counter = counters.find((one) => one.name === name)?.counter
      const counted = counter && countSeconds(counter)
      const seconds = (name === 'audio.wav' ? measureWav(head, bytes) : counted) ?? bound
      const isSane = Number.isFinite(seconds) && seconds >= 0
      return { start: 0, bytes, seconds: Math.ceil(isSane ? seconds : bound) }
    },
  }
}

/** Bytes in no frame may be audio of another kind, except for tags at the end. */
function countSeconds({ seconds, looseBytes }: Mp3Counter | OpusCounter): number | undefined {
  const counted = seconds()
  const loose = looseBytes()
  if (counted === undefined || loose <= TAG_BYTES_MAX) return counted
  return counted + loose / SLOWEST_BYTES_PER_SECOND
}

/** Returns true also while too little of the file is known. */
function mayBe(name: string, head: Buffer): boolean {
  return head.length < RECORDING_HEAD_BYTES || nameRecording(head) === name
}

/** Everything in the file counts as sound. Undefined for what is compressed or damaged. */
function measureWav(head: Buffer, bytes: number): number | undefined {
  try {
    const { format } = readHead(head, findWavFormat())
    return format.bytesPerSecond && bytes / format.bytesPerSecond
  } catch (error) {
    if (error instanceof WavFault) return undefined
    throw error
  }
}

/**
 * Returns a name with the suffix by which vendors detect formats; the caller's own name is not
 * trusted. Undefined if the content looks like no recording.
 */
export function nameRecording(head: Buffer): string | undefined {
  return NAMES[sniffType(head)]
}
