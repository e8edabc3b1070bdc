/** Reads the codec of a track of sound in an MP4 or MOV file, from its first description. */

import { AMR, AMR_WIDE, MPEG } from '../codecs/frame-formats.ts'
import {
  aacCodec,
  alacCodec,
  blockCodec,
  flacCodec,
  framesCodec,
  opusCodec,
  type SoundCodec,
} from '../codecs/sound-codec.ts'

const TABLE_HEAD_BYTES = 8
/** The fields that all descriptions have, with the head of their box. */
const FIELDS_BYTES = 36
const CHANNELS_AT = 24
const BITS_AT = 26
const RATE_AT = 32
/** In the second version of QuickTime's form. */
const LONG_RATE_AT = 40
const LONG_CHANNELS_AT = 48
const LONG_BITS_AT = 56
const IMA_BYTES = 34
const IMA_SAMPLES = 64
const AAC_TYPES: ReadonlySet<number> = new Set([0x40, 0x66, 0x67, 0x68])
const MPEG_TYPES: ReadonlySet<number> = new Set([0x69, 0x6b])
/** Bits of a sample; 0: as many as the description says. */
const PLAIN: ReadonlyMap<string, number> = new Map([
  ['ulaw', 8],
  ['alaw', 8],
  ['in24', 24],
  ['in32', 32],
  ['fl32', 32],
  ['fl64', 64],
  ['twos', 0],
  ['sowt', 0],
  ['raw ', 0],
  ['NONE', 0],
  ['lpcm', 0],
])

export interface Mp4Codec {
  readonly name: string
  /** Undefined for an unknown codec. */
  readonly codec: SoundCodec | undefined
}

/** `content` is that of the box `stsd`. */
export function readMp4Codec(content: Buffer): Mp4Codec {
  const entry = content.subarray(TABLE_HEAD_BYTES)
  const name = entry.toString('latin1', 4, 8)
  return { name, codec: entry.length < FIELDS_BYTES ? undefined : openCodec(name, entry) }
}

function openCodec(name: string, entry: Buffer): SoundCodec | undefined {
  const bits = PLAIN.get(name)
  if (bits !== undefined) return openPlain(entry, bits)
  switch (name) {
    case 'mp4a':
      return openDescribed(findOwn(entry, 'esds'))
    case '.mp3':
    case 'ms\0U':
      return framesCodec(MPEG)
    case 'samr':
      return framesCodec(AMR)
    case 'sawb':
      return framesCodec(AMR_WIDE)
    case 'ima4': {
      const { channels, rate } = readShape(entry)
      return channels > 0 && rate > 0
        ? blockCodec(rate, IMA_BYTES * channels, IMA_SAMPLES)
        : undefined
    }
    case 'Opus': {
      const own = findOwn(entry, 'dOps')
      return own.length < 4 ? undefined : { ...opusCodec(own), skip: own.readUInt16BE(2) }
    }
    case 'fLaC': {
      const own = findOwn(entry, 'dfLa')
      return own.length < 22 ? undefined : flacCodec(own.readUInt32BE(18) >>> 12)
    }
    case 'alac': {
      const own = findOwn(entry, 'alac')
      return own.length < 28 ? undefined : alacCodec(own.readUInt32BE(24), own.readUInt32BE(4))
    }
    default:
      return undefined
  }
}

/** Returns the content of a box behind the fields; QuickTime puts some into others. */
function findOwn(entry: Buffer, type: string): Buffer {
  const at = entry.indexOf(type, FIELDS_BYTES, 'latin1')
  return at === -1 ? Buffer.alloc(0) : entry.subarray(at + type.length)
}

function readShape(entry: Buffer) {
  const isLong = entry.readUInt16BE(16) === 2 && entry.length >= LONG_BITS_AT + 4
  if (!isLong) {
    const [channels, bits] = [entry.readUInt16BE(CHANNELS_AT), entry.readUInt16BE(BITS_AT)]
    return { channels, bits, rate: entry.readUInt32BE(RATE_AT) / 65_536 }
  }
  const [channels, bits] = [entry.readUInt32BE(LONG_CHANNELS_AT), entry.readUInt32BE(LONG_BITS_AT)]
  return { channels, bits, rate: entry.readDoubleBE(LONG_RATE_AT) }
}

function openPlain(entry: Buffer, knownBits: number): SoundCodec | undefined {
  const { channels, bits, rate } = readShape(entry)
  const bytes = Math.ceil((knownBits || bits) / 8) * channels
  return bytes > 0 && rate > 0 ? blockCodec(rate, bytes) : undefined
}

/** Descriptors within one another: 3 has 4, which names the codec and has 5, its configuration. */
function openDescribed(content: Buffer): SoundCodec | undefined {
  const stream = readDescriptor(content, 4)
  if (stream?.tag !== 3) return undefined
  const flags = content[stream.start + 2] ?? 0
  const linkBytes = (flags & 0x40) === 0 ? 0 : 1 + (content[stream.start + 3] ?? 0)
  const more = ((flags & 0x80) === 0 ? 0 : 2) + linkBytes + ((flags & 0x20) === 0 ? 0 : 2)
  const decoder = readDescriptor(content, stream.start + 3 + more)
  if (decoder?.tag !== 4) return undefined
  const type = content[decoder.start] ?? 0
  if (MPEG_TYPES.has(type)) return framesCodec(MPEG)
  const config = readDescriptor(content, decoder.start + 13)
  if (!AAC_TYPES.has(type) || config?.tag !== 5) return undefined
  return aacCodec(content.subarray(config.start, config.start + config.size))
}

/** Each byte of the size but the last has its highest bit set. */
function readDescriptor(content: Buffer, at: number) {
  const tag = content[at]
  let size = 0
  for (let index = 1; index <= 4; index += 1) {
    const byte = content[at + index]
    if (byte === undefined) return undefined
    size = size * 128 + (byte & 0x7f)
    if (byte < 0x80) return { tag, size, start: at + index + 1 }
  }
  return undefined
}
