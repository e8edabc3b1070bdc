/**
 * Measures an MP4, M4A or MOV file by the packets that its index names and that are there, wherever
 * the index is, or by those of its fragments. The longest of several tracks counts.
 */
import { readBox } from '../../mp4-boxes.ts'
import type { Reader } from '../../reader.ts'
import type { SoundCodec } from '../codecs/sound-codec.ts'
import { type PartBudget, spend, spendBytes } from '../pieces.ts'
import { UnreadableSound } from '../unreadable-sound.ts'
import { type FragmentDefaults, listFragment, readDefaults } from './mp4-fragment.ts'
import { type Mp4Edit, type Mp4Sample, type Mp4Track, readMp4Tracks } from './mp4-track.ts'

const HEADER_BYTES = 16
const INDEX_BYTES_MAX = 8 * 1024 * 1024
/** Of packets that are read whole. */
const PACKET_BYTES_MAX = 256 * 1024
const WHOLE: Mp4Edit = { start: 0, end: Infinity }

export function* readMp4Sound(from: number, to: number): Reader<number> {
  const budget: PartBudget = { parts: 0 }
  let tracks: readonly Mp4Track[] = []
  let codecs: ReadonlyMap<number, SoundCodec> = new Map()
  let defaults: FragmentDefaults = new Map()
  const fragments = new Map<number, number>()
  for (let at = from; at < to; ) {
    yield* spend(budget)
    const head = yield { at, count: HEADER_BYTES }
    const box = readBox(head, at, to)
    if (!box) break
    const type = head.toString('latin1', 4, 8)
    if (type === 'moov' && tracks.length === 0) {
      const movie = yield* readIndex(box.start, box.end)
      tracks = yield* readMp4Tracks(movie, budget)
      codecs = new Map(tracks.map(({ id, codec }) => [id, codec]))
      defaults = yield* readDefaults(movie, budget)
    } else if (type === 'moof') {
      const content = yield* readIndex(box.start, box.end)
      for (const sample of listFragment(content, at, defaults)) {
        yield* spend(budget)
        const codec = sample && codecs.get(sample.track)
        if (!codec) continue
        const samples = yield* samplesOf(codec, sample, to, budget)
        fragments.set(sample.track, (fragments.get(sample.track) ?? 0) + samples)
      }
    }
    at = box.end
  }
  return yield* longest(tracks, fragments, to, budget)
}

function* readIndex(start: number, end: number): Reader<Buffer> {
  if (end - start > INDEX_BYTES_MAX) throw new UnreadableSound('has an index that is too large')
  return yield { at: start, count: end - start }
}

function* longest(
  tracks: readonly Mp4Track[],
  fragments: ReadonlyMap<number, number>,
  to: number,
  budget: PartBudget,
): Reader<number> {
  if (tracks.length === 0) throw new UnreadableSound('has no sound')
  let longestSeconds = 0
  for (const track of tracks) {
    let seconds = 0
    for (const edit of track.edits.length === 0 ? [WHOLE] : track.edits) {
      yield* spendBytes(budget, track.indexBytes)
      seconds += yield* measureEdit(track, edit, to, budget)
    }
    const { codec, id } = track
    const samples = fragments.get(id) ?? 0
    if (samples > 0) seconds += Math.max(0, samples - codec.skip) / codec.rate()
    longestSeconds = Math.max(longestSeconds, seconds)
  }
  return longestSeconds
}

/** Returns what a decoder makes of a part of a track: whole packets, cut at both ends. */
function* measureEdit(
  track: Mp4Track,
  edit: Mp4Edit,
  to: number,
  budget: PartBudget,
): Reader<number> {
  const { codec, ticksPerSecond } = track
  let samples = 0
  let ticks = 0
  let first: { start: number; samples: number } | undefined
  let last = { start: 0, end: 0, samples: 0 }
  for (const sample of track.samples()) {
    yield* spend(budget)
    const start = ticks / ticksPerSecond
    if (start >= edit.end || sample.at >= to) break
    ticks += sample.ticks
    const end = ticks / ticksPerSecond
    if (end <= edit.start && sample.ticks > 0) continue
    const count = yield* samplesOf(codec, sample, to, budget)
    first ??= { start, samples: count }
    last = { start, end, samples: count }
    samples += count
  }
  if (!first || samples === 0) return 0
  const rate = codec.rate()
  const skipped = limit((edit.start - first.start) * rate, first.samples)
  const lastEnd = last.start * rate + last.samples
  const dropped = limit(lastEnd - Math.min(edit.end, last.end) * rate, last.samples)
  return Math.max(0, samples - Math.max(skipped, codec.skip) - dropped) / rate
}

const limit = (value: number, most: number) => Math.min(Math.max(0, Math.round(value)), most)

/** Counts a packet that is there; without packets, what is there of the samples. */
function* samplesOf(
  codec: SoundCodec,
  { at, bytes }: Mp4Sample,
  to: number,
  budget: PartBudget,
): Reader<number> {
  const there = Math.min(bytes, to - at)
  if (there <= 0 || (there < bytes && !codec.block)) return 0
  const count = Math.min(there, codec.reads)
  if (count > PACKET_BYTES_MAX) throw new UnreadableSound('has a packet that is too large')
  // An index may name the same packet any number of times.
  yield* spendBytes(budget, count)
  return codec.samplesOf(count === 0 ? NO_BYTES : yield { at, count }, there)
}

const NO_BYTES = Buffer.alloc(0)
