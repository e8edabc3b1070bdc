/** Recordings of every container whose length is read, of a given length, written by hand. */

import { encodeMp4 } from '../../simulators/media/mp4.ts'
import { OggOpusWriter } from '../../simulators/openspeech/audio/ogg-opus.ts'

const RATE = 8000

/** Silence of one byte a sample. */
export function wav(seconds: number): Buffer {
  const data = Buffer.alloc(seconds * RATE, 0x80)
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + data.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(RATE, 24)
  head.writeUInt32LE(RATE, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(data.length, 40)
  return Buffer.concat([head, data])
}

/** The same, whose header says how long it is and whose samples are not there. */
export function wavHeaderOf(seconds: number): Buffer {
  const head = Buffer.from(wav(1).subarray(0, 44))
  head.writeUInt32LE(seconds * RATE, 40)
  return head
}

export function ogg(seconds: number): Buffer {
  const writer = new OggOpusWriter()
  const units = Array.from({ length: seconds * 50 }, () => undefined)
  return Buffer.concat([writer.headers(), writer.pages(units, 0, true)])
}

/** The index stands first, or last. */
export function mp4(seconds: number, indexLast = false): Buffer {
  const file = encodeMp4({
    width: 64,
    height: 64,
    framesPerSecond: 1,
    note: {},
    samples: Array.from({ length: seconds }, () => ({ data: Buffer.alloc(10), intra: true })),
    sequenceParameters: Buffer.from([0x67, 0x42, 0, 0x1f]),
    pictureParameters: Buffer.from([0x68]),
  })
  if (!indexLast) return file
  const at = file.indexOf('moov') - 4
  const end = at + file.readUInt32BE(at)
  return Buffer.concat([file.subarray(0, at), file.subarray(end), file.subarray(at, end)])
}

export function flac(seconds: number): Buffer {
  const file = Buffer.alloc(200)
  file.write('fLaC')
  file.writeUInt8(34, 7)
  file.writeUInt32BE((44_100 << 12) >>> 0, 18)
  file.writeUInt32BE(44_100 * seconds, 22)
  return file
}

const element = (id: string, content: Buffer, size = Buffer.of(0x80 + content.length)) =>
  Buffer.concat([Buffer.from(id, 'hex'), size, content])

/** The segment has no size, as one that was written while it was recorded. */
export function webm(seconds: number | undefined): Buffer {
  const ticks = Buffer.alloc(8)
  ticks.writeDoubleBE((seconds ?? 0) * 1000)
  const scale = element('2ad7b1', Buffer.from('0f4240', 'hex'))
  const duration = seconds === undefined ? Buffer.alloc(0) : element('4489', ticks)
  const info = element('1549a966', Buffer.concat([scale, duration]))
  const cluster = element('1f43b675', Buffer.alloc(10))
  return Buffer.concat([
    element('1a45dfa3', Buffer.alloc(4)),
    element('18538067', Buffer.concat([info, cluster]), Buffer.from('01ffffffffffffff', 'hex')),
  ])
}

const FRAME_RATE = 48_000
const FRAME_SAMPLES = 1152
/** 64, 128 and 32 kbit/s, as they stand in a frame's third byte. */
export const RATES = { usual: 0x54, high: 0x94, low: 0x14 } as const
const BYTES: Readonly<Record<number, number>> = { 84: 192, 148: 384, 20: 96 }

function mp3Frame(rate: number): Buffer {
  const frame = Buffer.alloc(BYTES[rate] ?? 0)
  frame.set([0xff, 0xfb, rate, 0xc4])
  return frame
}

/** Frames of the given rates in turn; `counted`: the first says how many there are. */
export function mp3(seconds: number, rates: readonly number[], counted = false): Buffer {
  const count = Math.round((seconds * FRAME_RATE) / FRAME_SAMPLES)
  const each = Math.ceil(count / rates.length)
  const frames = rates.flatMap((rate) => Array.from({ length: each }, () => mp3Frame(rate)))
  const tag = Buffer.from('ID3\x04\0\0\0\0\0\x0a0123456789', 'latin1')
  if (!counted) return Buffer.concat([tag, ...frames])
  const first = mp3Frame(RATES.usual)
  first.write('Xing', 21)
  first.writeUInt32BE(1, 25)
  first.writeUInt32BE(count, 29)
  return Buffer.concat([tag, first, ...frames])
}
