/** Counts the samples of packets in containers: those that a decoder produces from each. */
import { readAacConfig } from './aac-config.ts'
import type { FrameFormat } from './count-frames.ts'
import { FLAC_HEAD_BYTES, readFlacFrame } from './flac-frame.ts'

export interface SoundCodec {
  /** Samples per second; for codecs of frames, known from the first frame on. */
  readonly rate: () => number
  /** Samples that a decoder drops at the start of the stream. */
  readonly skip: number
  /** Bytes at the start of a packet that its samples are read from. */
  readonly reads: number
  /** For codecs without packets: this many bytes hold this many samples of every channel. */
  readonly block?: { readonly bytes: number; readonly samples: number }
  /** Takes the packet, or its first `reads` bytes. */
  readonly samplesOf: (packet: Buffer, bytes: number) => number
}

const OPUS_RATE = 48_000
/** Samples of a frame: speech, both, music. */
const SPEECH = [480, 960, 1920, 2880]
const MIXED = [480, 960]
const MUSIC = [120, 240, 480, 960]

/** `head` begins with `OpusHead`, or is shorter than that of any stream. */
export function opusCodec(head: Buffer): SoundCodec {
  const skip = head.length >= 12 ? head.readUInt16LE(10) : 0
  return { rate: () => OPUS_RATE, skip, reads: 2, samplesOf: opusSamples }
}

function opusSamples(packet: Buffer): number {
  const [first, second = 0] = packet
  if (first === undefined) return 0
  const kind = first >> 3
  const frames = [1, 2, 2, second & 0x3f][first & 3] ?? 1
  const each = kind < 12 ? SPEECH[kind & 3] : kind < 16 ? MIXED[kind & 1] : MUSIC[kind & 3]
  return frames * (each ?? 0)
}

/** Returns a codec of packets that have as many samples each. */
export function evenCodec(rate: number, samples: number): SoundCodec {
  return { rate: () => rate, skip: 0, reads: 0, samplesOf: () => samples }
}

/** Returns undefined for a configuration without a rate. */
export function aacCodec(config: Uint8Array): SoundCodec | undefined {
  const aac = readAacConfig(config)
  return aac && evenCodec(aac.rate, aac.samples)
}

/** Samples or blocks of equal size; `bytes` stand for `samples` of every channel. */
export function blockCodec(rate: number, bytes: number, samples = 1): SoundCodec {
  return {
    rate: () => rate,
    skip: 0,
    reads: 0,
    block: { bytes, samples },
    samplesOf: (_, packetBytes) => Math.floor(packetBytes / bytes) * samples,
  }
}

/** `streamRate` applies if a frame states no rate. */
export function flacCodec(streamRate: number): SoundCodec {
  return {
    rate: () => streamRate,
    skip: 0,
    reads: FLAC_HEAD_BYTES,
    samplesOf: (packet) => readFlacFrame(packet, 0)?.samples ?? 0,
  }
}

/** Frames with a header of their own, of which a packet may hold several. */
export function framesCodec(format: FrameFormat): SoundCodec {
  let rate = 0
  return {
    rate: () => rate,
    skip: 0,
    reads: Infinity,
    samplesOf(packet) {
      let samples = 0
      for (let at = 0; at + format.headBytes <= packet.length; ) {
        const frame = format.read(packet, at)
        if (!frame) break
        rate ||= frame.rate
        samples += (frame.samples * rate) / frame.rate
        at += frame.bytes
      }
      return samples
    },
  }
}

/** Apple's lossless codec: a packet states its samples where they are fewer than usual. */
export function alacCodec(rate: number, usual: number): SoundCodec {
  return {
    rate: () => rate,
    skip: 0,
    reads: 8,
    samplesOf(packet) {
      if (packet.length < 8) return 0
      // 3 bits of form, 4 of instance, 12 unused, 1 for the count that follows 3 others.
      const hasCount = ((packet[2] ?? 0) & 0x10) !== 0
      return hasCount ? ((packet.readUInt32BE(2) << 7) | ((packet[6] ?? 0) >>> 1)) >>> 0 : usual
    },
  }
}
