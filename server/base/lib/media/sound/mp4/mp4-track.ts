/** Reads the index of one track of sound of an MP4 or MOV file. */
import type { Reader } from '../../reader.ts'
import type { SoundCodec } from '../codecs/sound-codec.ts'
import { type PartBudget, spend, spendBytes } from '../pieces.ts'
import { UnreadableSound } from '../unreadable-sound.ts'
import { findBoxIn, listBoxes } from './loaded-boxes.ts'
import { readMp4Codec } from './mp4-codec.ts'

/** A packet, or the samples of a chunk where they have one size. */
export interface Mp4Sample {
  readonly at: number
  readonly bytes: number
  /** In the track's own time. */
  readonly ticks: number
}

/** A part of the track that is played, in seconds. */
export interface Mp4Edit {
  readonly start: number
  readonly end: number
}

export interface Mp4Track {
  readonly id: number
  readonly ticksPerSecond: number
  readonly codec: SoundCodec
  /** Empty: the whole track is played. */
  readonly edits: readonly Mp4Edit[]
  /** Of the index, which each listing goes through. */
  readonly indexBytes: number
  /** Lists the packets that the index names, in order. */
  readonly samples: () => Generator<Mp4Sample>
}

/** Returns undefined for a track of another kind. Throws UnreadableSound for an unknown codec. */
function readTrack(content: Buffer, movieTicksPerSecond: number): Mp4Track | undefined {
  const media = findBoxIn(content, ['mdia'])
  if (findBoxIn(media, ['hdlr']).toString('latin1', 8, 12) !== 'soun') return undefined
  const table = findBoxIn(media, ['minf', 'stbl'])
  const { name, codec } = readMp4Codec(findBoxIn(table, ['stsd']))
  if (!codec) throw new UnreadableSound(`has sound of a codec that is not read (${name})`)
  const ticksPerSecond = readTicksPerSecond(findBoxIn(media, ['mdhd']))
  const edits = findBoxIn(content, ['edts', 'elst'])
  return {
    id: readTrackId(findBoxIn(content, ['tkhd'])),
    ticksPerSecond,
    codec,
    edits: readEdits(edits, ticksPerSecond, movieTicksPerSecond),
    indexBytes: table.length,
    samples: openSamples(table, codec),
  }
}

const readTrackId = (header: Buffer) => read32(header, header[0] === 1 ? 20 : 12)

/** Reads it from the header of the movie or of a track; 1 if there is none. */
function readTicksPerSecond(header: Buffer): number {
  return read32(header, header[0] === 1 ? 20 : 12) || 1
}

function read32(content: Buffer, at: number): number {
  return content.length < at + 4 ? 0 : content.readUInt32BE(at)
}

/** Empty edits delay the sound, and play nothing. */
function readEdits(content: Buffer, own: number, movie: number): Mp4Edit[] {
  const isLong = content[0] === 1
  const bytes = isLong ? 20 : 12
  const edits: Mp4Edit[] = []
  for (let at = 8; at + bytes <= content.length; at += bytes) {
    const length = isLong ? Number(content.readBigUInt64BE(at)) : content.readUInt32BE(at)
    const from = isLong ? Number(content.readBigInt64BE(at + 8)) : content.readInt32BE(at + 4)
    const start = from / own
    if (from >= 0) edits.push({ start, end: length === 0 ? Infinity : start + length / movie })
  }
  return edits
}

/** Finds the tables of the index once. */
function openSamples(table: Buffer, { block }: SoundCodec): Mp4Track['samples'] {
  const sizes = readSizes(table)
  const times = findBoxIn(table, ['stts'])
  const places = findPlaces(table)
  return () => listSamples(sizes, readTicks(times), listChunks(places), block)
}

function* listSamples(
  sizes: ReturnType<typeof readSizes>,
  ticks: ReturnType<typeof readTicks>,
  chunks: ReturnType<typeof listChunks>,
  block: SoundCodec['block'],
): Generator<Mp4Sample> {
  let index = 0
  for (const { at, count } of chunks) {
    if (block && sizes.even > 0) {
      // A size of 1 stands for a sample, another for a block.
      const entries = Math.min(count, sizes.count - index)
      const blocks = sizes.even === block.bytes ? entries : Math.ceil(entries / block.samples)
      yield { at, bytes: blocks * block.bytes, ticks: ticks(entries) }
      index += entries
      continue
    }
    let from = at
    for (const end = Math.min(index + count, sizes.count); index < end; index += 1) {
      const bytes = sizes.even || sizes.of(index)
      yield { at: from, bytes, ticks: ticks(1) }
      from += bytes
    }
  }
}

function readSizes(table: Buffer) {
  const content = findBoxIn(table, ['stsz'])
  const even = read32(content, 4)
  if (content.length > 0) {
    const count = even > 0 ? read32(content, 8) : countEntries(content, 8, 4)
    return { even, count, of: (index: number) => read32(content, 12 + index * 4) }
  }
  const short = findBoxIn(table, ['stz2'])
  const count = countEntries(short, 8, 0.5)
  return { even: 0, count, of: (index: number) => readShort(short, index) }
}

/** Returns the stated number of entries of a table, or as many as the bytes have. */
function countEntries(content: Buffer, at: number, bytesEach: number): number {
  return Math.min(read32(content, at), Math.max(0, content.length - at - 4) / bytesEach)
}

/** Sizes of 4, 8 or 16 bits. */
function readShort(content: Buffer, index: number): number {
  const bits = content[7] ?? 0
  if (bits === 16) return content.length < 14 + index * 2 ? 0 : content.readUInt16BE(12 + index * 2)
  const byte = content[12 + Math.floor((index * bits) / 8)] ?? 0
  return bits === 8 ? byte : index % 2 === 0 ? byte >>> 4 : byte & 0xf
}

/** Returns a function that passes over so many samples and returns their length together. */
function readTicks(content: Buffer): (samples: number) => number {
  let at = 8
  let left = read32(content, at)
  return (samples) => {
    let ticks = 0
    for (let ahead = samples; ahead > 0; ) {
      const step = Math.min(ahead, left)
      ticks += step * read32(content, at + 4)
      ahead -= step
      left -= step
      if (left > 0) continue
      at += 8
      if (at + 8 > content.length) break
      left = read32(content, at)
    }
    return ticks
  }
}

function findPlaces(table: Buffer) {
  const runs = findBoxIn(table, ['stsc'])
  const short = findBoxIn(table, ['stco'])
  const long = findBoxIn(table, ['co64'])
  const chunks = short.length > 0 ? countEntries(short, 4, 4) : countEntries(long, 4, 8)
  return { runs, short, long, chunks }
}

/** Runs of chunks with equally many samples each; a run ends where the next begins. */
function* listChunks({
  runs,
  short,
  long,
  chunks,
}: ReturnType<typeof findPlaces>): Generator<{ at: number; count: number }> {
  let run = 8
  for (let chunk = 1; chunk <= chunks; chunk += 1) {
    while (run + 24 <= runs.length && read32(runs, run + 12) <= chunk) run += 12
    const at = short.length > 0 ? read32(short, 4 + chunk * 4) : readLong(long, chunk * 8)
    yield { at, count: read32(runs, run + 4) }
  }
}

function readLong(content: Buffer, at: number): number {
  return content.length < at + 8 ? Infinity : Number(content.readBigUInt64BE(at))
}

/** Returns the tracks of sound in a `moov`. */
export function* readMp4Tracks(movie: Buffer, budget: PartBudget): Reader<Mp4Track[]> {
  const ticks = readTicksPerSecond(findBoxIn(movie, ['mvhd']))
  const tracks: Mp4Track[] = []
  for (const { type, content } of listBoxes(movie)) {
    yield* spend(budget)
    yield* spendBytes(budget, content.length)
    const track = type === 'trak' ? readTrack(content, ticks) : undefined
    if (track) tracks.push(track)
  }
  return tracks
}
