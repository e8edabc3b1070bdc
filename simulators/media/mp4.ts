// Boxes around H.264 pictures: an MP4 file with one video track that browsers play and seek, and a
// private box with metadata about its generation. Source: ISO/IEC 14496-12 and -15.

export interface Sample {
  data: Buffer
  /** True for an intra picture, to which players can seek. */
  intra: boolean
}

export interface Track {
  width: number
  height: number
  framesPerSecond: number
  samples: Sample[]
  sequenceParameters: Buffer
  pictureParameters: Buffer
  /** Stored in the file, for services that work on it. */
  note: unknown
}

const NOTE_ID = Buffer.from('5d1f6a0e-3b7c-4e1b-9a64-2f0c8d5e7a11'.replaceAll('-', ''), 'hex')
const TIMESCALE = 24_000

export function encodeMp4(track: Track): Buffer {
  const type = box('ftyp', text('isom'), u32(512), text('isomiso2avc1mp41'))
  const note = box('uuid', NOTE_ID, Buffer.from(JSON.stringify(track.note)))
  const samples = track.samples.map(({ data }) => Buffer.concat([u32(data.length), data]))
  const length = movie(track, samples, 0).length
  const head = movie(track, samples, type.length + length + note.length + 8)
  return Buffer.concat([type, head, note, box('mdat', ...samples)])
}

/** Returns the metadata written by `encodeMp4`; undefined for other files. */
export function noteOf(file: Buffer): unknown {
  for (let at = 0; at + 8 <= file.length; ) {
    const size = file.readUInt32BE(at)
    if (size < 8) return undefined
    const isNote = file.subarray(at + 8, at + 24).equals(NOTE_ID)
    if (isNote && file.toString('latin1', at + 4, at + 8) === 'uuid') {
      return JSON.parse(file.toString('utf8', at + 24, at + size))
    }
    at += size
  }
  return undefined
}

function movie(track: Track, samples: Buffer[], offset: number): Buffer {
  const duration = (samples.length * TIMESCALE) / track.framesPerSecond
  const header = full('mvhd', 0, [
    u32(0),
    u32(0),
    u32(TIMESCALE),
    u32(duration),
    u32(0x10000),
    u16(0x100),
    zeros(10),
    MATRIX,
    zeros(24),
    u32(2),
  ])
  const trackHeader = full('tkhd', 3, [
    u32(0),
    u32(0),
    u32(1),
    u32(0),
    u32(duration),
    zeros(16),
    MATRIX,
    u32(track.width << 16),
    u32(track.height << 16),
  ])
  const mediaHeader = full('mdhd', 0, [
    u32(0),
    u32(0),
    u32(TIMESCALE),
    u32(duration),
    u16(0x55c4),
    u16(0),
  ])
  const handler = full('hdlr', 0, [u32(0), text('vide'), zeros(12), text('Video\0')])
  const reference = full('dref', 0, [u32(1), full('url ', 1, [])])
  const information = box(
    'minf',
    full('vmhd', 1, [zeros(8)]),
    box('dinf', reference),
    sampleTable(track, samples, offset),
  )
  const media = box('mdia', mediaHeader, handler, information)
  return box('moov', header, box('trak', trackHeader, media))
}

function sampleTable(track: Track, samples: Buffer[], offset: number): Buffer {
  const intra = track.samples.flatMap((sample, index) => (sample.intra ? [u32(index + 1)] : []))
  const each = TIMESCALE / track.framesPerSecond
  return box(
    'stbl',
    full('stsd', 0, [u32(1), description(track)]),
    full('stts', 0, [u32(1), u32(samples.length), u32(each)]),
    full('stss', 0, [u32(intra.length), ...intra]),
    full('stsc', 0, [u32(1), u32(1), u32(samples.length), u32(1)]),
    full('stsz', 0, [u32(0), u32(samples.length), ...samples.map(({ length }) => u32(length))]),
    full('stco', 0, [u32(1), u32(offset)]),
  )
}

function description(track: Track): Buffer {
  const { sequenceParameters: sequence, pictureParameters: picture } = track
  const configuration = box(
    'avcC',
    Buffer.from([1, sequence[1] ?? 0, sequence[2] ?? 0, sequence[3] ?? 0, 0xff, 0xe1]),
    u16(sequence.length),
    sequence,
    Buffer.from([1]),
    u16(picture.length),
    picture,
  )
  return box(
    'avc1',
    zeros(6),
    u16(1),
    zeros(16),
    u16(track.width),
    u16(track.height),
    u32(0x480000),
    u32(0x480000),
    zeros(4),
    u16(1),
    zeros(32),
    u16(24),
    u16(0xffff),
    configuration,
  )
}

function box(type: string, ...parts: Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 8)
  return Buffer.concat([u32(length), text(type), ...parts])
}

function full(type: string, flags: number, parts: Buffer[]): Buffer {
  return box(type, u32(flags), ...parts)
}

const text = (value: string): Buffer => Buffer.from(value, 'latin1')
const zeros = (length: number): Buffer => Buffer.alloc(length)

function u16(value: number): Buffer {
  const out = Buffer.alloc(2)
  out.writeUInt16BE(value)
  return out
}

function u32(value: number): Buffer {
  const out = Buffer.alloc(4)
  out.writeUInt32BE(value)
  return out
}

/** No rotation, no scaling. */
const MATRIX = Buffer.concat([0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map(u32))
