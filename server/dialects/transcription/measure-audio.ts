/** How long a recording is, and what kind of file it is, found out while it passes. */
import { createMp3Counter, type Mp3Counter } from './count-mp3.ts'
import { createOpusCounter, type OpusCounter } from './count-opus.ts'

export interface AudioMeasurement {
  readonly start: number
  readonly bytes: number
  /** Seconds, rounded up; an upper bound where the header does not state them. */
  readonly seconds: number
}

const HEAD_BYTES = 4096
/** Enough for `nameRecording`. */
export const RECORDING_HEAD_BYTES = 12
/** What writers of tags leave behind the sound. */
const TAG_BYTES_MAX = 4096
/** The lowest rate that people record speech at: what cannot be measured is held at this. */
export const SLOWEST_BYTES_PER_SECOND = 1000
const RIFF_CHUNKS_AT = 12
const FORMAT_BYTES = 16
const EXTENSIBLE = 0xfffe
/** Numbers, whole or with a point, and the two laws: so many bits in each sample. */
const PLAIN_WAV: ReadonlySet<number> = new Set([1, 3, 6, 7])

/** An inspector of one file: keeps its first bytes, nothing else. */
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

/** What is in no frame may be sound of another kind, but for what people write at the end. */
function countSeconds({ seconds, looseBytes }: Mp3Counter | OpusCounter): number | undefined {
  const counted = seconds()
  const loose = looseBytes()
  if (counted === undefined || loose <= TAG_BYTES_MAX) return counted
  return counted + loose / SLOWEST_BYTES_PER_SECOND
}

/** Until there is enough of it to tell, it may. */
function mayBe(name: string, head: Buffer): boolean {
  return head.length < RECORDING_HEAD_BYTES || nameRecording(head) === name
}

/**
 * Undefined for what is compressed: its header states a rate that nothing in it must keep. Of the
 * two rates that a header states, players believe one or the other: the slower counts.
 */
function measureWav(head: Buffer, bytes: number): number | undefined {
  const at = findFormat(head)
  if (at === undefined || !PLAIN_WAV.has(readWavTag(head, at))) return undefined
  const sampleBytes = (head.readUInt16LE(at + 2) * head.readUInt16LE(at + 14)) / 8
  const computed = head.readUInt32LE(at + 4) * sampleBytes
  const stated = head.readUInt32LE(at + 8)
  return bytes / Math.min(stated, computed)
}

/** The extensible form names the real one behind the others. */
function readWavTag(head: Buffer, at: number): number {
  const tag = head.readUInt16LE(at)
  return tag === EXTENSIBLE && at + 26 <= head.length ? head.readUInt16LE(at + 24) : tag
}

/** Other chunks may stand before it. */
function findFormat(head: Buffer): number | undefined {
  if (head.toString('latin1', 8, RIFF_CHUNKS_AT) !== 'WAVE') return undefined
  for (let at = RIFF_CHUNKS_AT; at + 8 + FORMAT_BYTES <= head.length; ) {
    if (head.toString('latin1', at, at + 4) === 'fmt ') return at + 8
    const length = head.readUInt32LE(at + 4)
    at += 8 + length + (length % 2)
  }
  return undefined
}

/**
 * A name with the ending that vendors tell formats by: the caller's own name is not believed.
 * Undefined for what looks like no recording.
 */
export function nameRecording(head: Buffer): string | undefined {
  const text = head.toString('latin1', 0, 12)
  if (text.startsWith('RIFF')) return 'audio.wav'
  if (text.startsWith('OggS')) return 'audio.ogg'
  if (text.startsWith('fLaC')) return 'audio.flac'
  if (text.startsWith('\x1a\x45\xdf\xa3')) return 'audio.webm'
  if (text.startsWith('ftyp', 4)) return text.startsWith('M4A', 8) ? 'audio.m4a' : 'audio.mp4'
  return text.startsWith('ID3') || startsFrame(head) ? 'audio.mp3' : undefined
}

/** True for MPEG audio; layer zero would be AAC. */
function startsFrame(head: Buffer): boolean {
  const second = head[1] ?? 0
  return head[0] === 0xff && (second & 0xe0) === 0xe0 && (second & 0b110) !== 0
}
