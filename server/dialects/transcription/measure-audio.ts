/** How long a recording is, and what kind of file it is, found out while it passes. */
import { createMp3Counter } from './count-mp3.ts'

export interface Measured {
  readonly start: number
  readonly bytes: number
  /** Seconds, rounded up; an upper bound where the header does not state them. */
  readonly seconds: number
}

const HEAD_BYTES = 4096
/** Enough for `nameRecording`. */
export const RECORDING_HEAD_BYTES = 12
const TAIL_BYTES = 65_536
/** The lowest rate that people record speech at: what cannot be measured is held at this. */
export const SLOWEST_BYTES_PER_SECOND = 1000
const OPUS_RATE = 48_000
const RIFF_CHUNKS_AT = 12
const FORMAT_BYTES = 16

/** An inspector of one file: keeps its first and its last bytes, nothing else. */
export function createAudioMeter() {
  let head: Buffer = Buffer.alloc(0)
  const frames = createMp3Counter()
  const tail: Buffer[] = []
  let tailBytes = 0
  let bytes = 0
  return {
    push(chunk: Buffer): void {
      bytes += chunk.length
      if (head.length < HEAD_BYTES) {
        head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)])
      }
      if (mayBeMp3(head)) frames.push(chunk)
      // A copy: what arrives may be a small part of a large buffer.
      const last = Buffer.from(chunk.subarray(-TAIL_BYTES))
      tail.push(last)
      tailBytes += last.length
      while (tailBytes - (tail[0]?.length ?? 0) >= TAIL_BYTES) {
        tailBytes -= tail.shift()?.length ?? 0
      }
    },
    end(): Measured {
      const bound = bytes / SLOWEST_BYTES_PER_SECOND
      const seconds = measure(head, Buffer.concat(tail), bytes) ?? frames.seconds() ?? bound
      const isSane = Number.isFinite(seconds) && seconds >= 0
      return { start: 0, bytes, seconds: Math.ceil(isSane ? seconds : bound) }
    },
  }
}

function measure(head: Buffer, tail: Buffer, bytes: number): number | undefined {
  const name = nameRecording(head)
  if (name === 'audio.wav') return measureWav(head, bytes)
  return name === 'audio.ogg' ? measureOgg(head, tail) : undefined
}

/** Until there is enough of it to tell, it may. */
function mayBeMp3(head: Buffer): boolean {
  return head.length < RECORDING_HEAD_BYTES || nameRecording(head) === 'audio.mp3'
}

/** Of the two rates that a header states, players believe one or the other: the slower counts. */
function measureWav(head: Buffer, bytes: number): number | undefined {
  const at = findFormat(head)
  if (at === undefined) return undefined
  const sampleBytes = (head.readUInt16LE(at + 2) * head.readUInt16LE(at + 14)) / 8
  const computed = head.readUInt32LE(at + 4) * sampleBytes
  const stated = head.readUInt32LE(at + 8)
  // Compressed forms have no bits in a sample: there the stated rate is all there is.
  return bytes / (computed > 0 ? Math.min(stated, computed) : stated)
}

/** Other chunks may stand before it. */
function findFormat(head: Buffer): number | undefined {
  for (let at = RIFF_CHUNKS_AT; at + 8 + FORMAT_BYTES <= head.length; ) {
    if (head.toString('latin1', at, at + 4) === 'fmt ') return at + 8
    const length = head.readUInt32LE(at + 4)
    at += 8 + length + (length % 2)
  }
  return undefined
}

/** The last page's position, in samples, without those that only set the decoder up. */
function measureOgg(head: Buffer, tail: Buffer): number | undefined {
  const at = tail.lastIndexOf('OggS')
  const opus = head.indexOf('OpusHead')
  if (at < 0 || at + 14 > tail.length || opus < 0 || opus + 12 > head.length) return undefined
  const setUp = head.readUInt16LE(opus + 10)
  return Math.max(0, Number(tail.readBigInt64LE(at + 6)) - setUp) / OPUS_RATE
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
