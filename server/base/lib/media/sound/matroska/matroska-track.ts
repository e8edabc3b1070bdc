/** Reads the tracks of sound that a WebM or Matroska file has, and the codec of each. */
import { listElements, readFloat, readUnsigned } from '../../ebml.ts'
import { FORMAT_BYTES_MIN, readWavFormat } from '../../wav-format.ts'
import { MPEG } from '../codecs/frame-formats.ts'
import {
  aacCodec,
  alacCodec,
  blockCodec,
  evenCodec,
  flacCodec,
  framesCodec,
  opusCodec,
  type SoundCodec,
} from '../codecs/sound-codec.ts'
import { vorbisCodec } from '../codecs/vorbis-codec.ts'
import { UnreadableSound } from '../unreadable-sound.ts'

export interface MatroskaTrack {
  readonly number: number
  readonly codec: SoundCodec
  /** Bytes that begin every packet and are left out of the file. */
  readonly prefix: Buffer
}

const TRACK = 0xae
const NUMBER = 0xd7
const TYPE = 0x83
const CODEC = 0x86
const PRIVATE = 0x63a2
const AUDIO = 0xe1
const RATE = 0xb5
const CHANNELS = 0x9f
const DEPTH = 0x6264
const ENCODINGS = 0x6d80
const ENCODING = 0x6240
const COMPRESSION = 0x5034
const METHOD = 0x4254
const SETTINGS = 0x4255
const ENCRYPTION = 0x5035
const SOUND = 2
const LEFT_OUT = 3
const AAC_SAMPLES = 1024
const RATE_DEFAULT = 8000
const NAME_BYTES_MAX = 64
/** Writers leave out the head of a frame: some bytes. Each packet is read with them. */
const PREFIX_BYTES_MAX = 256
const NO_BYTES = Buffer.alloc(0)

/** `content` is that of the element `Tracks`. Throws UnreadableSound for an unknown codec. */
export function readMatroskaTracks(content: Buffer): MatroskaTrack[] {
  const tracks: MatroskaTrack[] = []
  for (const element of listElements(content)) {
    const track = element.id === TRACK ? readTrack(element.content) : undefined
    if (track) tracks.push(track)
  }
  return tracks
}

type Members = ReadonlyMap<number, Buffer>

function membersOf(content: Buffer): Members {
  return new Map([...listElements(content)].map((one) => [one.id, one.content]))
}

const numberOf = (members: Members, id: number) => readUnsigned(members.get(id) ?? NO_BYTES)

function readTrack(content: Buffer): MatroskaTrack | undefined {
  const members = membersOf(content)
  if (numberOf(members, TYPE) !== SOUND) return undefined
  const stated = members.get(CODEC)?.toString('latin1', 0, NAME_BYTES_MAX) ?? ''
  const [name = ''] = stated.split('\0', 1)
  const codec = openCodec(name, members)
  if (!codec) throw new UnreadableSound(`has sound of a codec that is not read (${name})`)
  return { number: numberOf(members, NUMBER), codec, prefix: readPrefix(members) }
}

function readPrefix(members: Members): Buffer {
  let prefix = NO_BYTES
  for (const { id, content } of listElements(members.get(ENCODINGS) ?? NO_BYTES)) {
    const encoding = membersOf(content)
    const compression = encoding.get(COMPRESSION)
    if (id !== ENCODING || (!compression && !encoding.has(ENCRYPTION))) continue
    const how = membersOf(compression ?? NO_BYTES)
    if (encoding.has(ENCRYPTION) || numberOf(how, METHOD) !== LEFT_OUT) {
      throw new UnreadableSound('has sound that is compressed twice or encrypted')
    }
    prefix = Buffer.concat([how.get(SETTINGS) ?? NO_BYTES, prefix])
    if (prefix.length > PREFIX_BYTES_MAX) {
      throw new UnreadableSound('leaves too much out of its packets')
    }
  }
  return prefix
}

function openCodec(name: string, members: Members): SoundCodec | undefined {
  const own = members.get(PRIVATE) ?? NO_BYTES
  const audio = membersOf(members.get(AUDIO) ?? NO_BYTES)
  const rate = readFloat(audio.get(RATE) ?? NO_BYTES) || RATE_DEFAULT
  const channels = numberOf(audio, CHANNELS) || 1
  if (name.startsWith('A_AAC')) return own.length > 0 ? aacCodec(own) : evenCodec(rate, AAC_SAMPLES)
  if (name.startsWith('A_MPEG/L')) return framesCodec(MPEG)
  if (name.startsWith('A_PCM/')) {
    const bytes = Math.ceil(numberOf(audio, DEPTH) / 8) * channels
    return bytes > 0 ? blockCodec(rate, bytes) : undefined
  }
  switch (name) {
    case 'A_OPUS':
      return opusCodec(own)
    case 'A_VORBIS':
      return openVorbis(own)
    case 'A_FLAC':
      return flacCodec(own.length >= 22 ? own.readUInt32BE(18) >>> 12 : rate)
    case 'A_MS/ACM': {
      const format = own.length < FORMAT_BYTES_MIN ? undefined : readWavFormat(own)
      return format?.sampleBytes ? blockCodec(format.rate, format.sampleBytes) : undefined
    }
    case 'A_ALAC':
      return own.length >= 24 ? alacCodec(own.readUInt32BE(20), own.readUInt32BE(0)) : undefined
    default:
      return undefined
  }
}

/** Three headers behind one another, with the lengths of the first two before them. */
function openVorbis(own: Buffer): SoundCodec | undefined {
  if (own[0] !== 2) return undefined
  let at = 1
  const lengths: number[] = []
  while (lengths.length < 2 && at < own.length) {
    let length = 0
    for (; own[at] === 0xff; at += 1) length += 0xff
    lengths.push(length + (own[at] ?? 0))
    at += 1
  }
  const [first = 0, second = 0] = lengths
  return vorbisCodec(own.subarray(at, at + first), own.subarray(at + first + second))
}
