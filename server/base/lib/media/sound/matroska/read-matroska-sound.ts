/**
 * Measures a WebM or Matroska file by its packets: a file that was written live states no length,
 * and a stated one may be wrong. The longest of several tracks counts.
 */
import { ELEMENT_HEAD_BYTES, type ElementHead, readElementHead, readVariable } from '../../ebml.ts'
import type { Reader } from '../../reader.ts'
import { type PartBudget, PIECE_BYTES, spend } from '../pieces.ts'
import { UnreadableSound } from '../unreadable-sound.ts'
import { type MatroskaTrack, readMatroskaTracks } from './matroska-track.ts'
import { LACING, splitLaced } from './split-laced.ts'

const TRACKS = 0x1654ae6b
const CLUSTER = 0x1f43b675
const SIMPLE_BLOCK = 0xa3
const BLOCK = 0xa1
const DROPPED = 0x75a2
/** Elements whose content is read as elements, so that their sizes do not matter. */
const PARENTS: ReadonlySet<number> = new Set([0x18538067, CLUSTER, 0xa0])
const CLUSTER_MARK = Buffer.from('1f43b675', 'hex')
const TRACKS_BYTES_MAX = 1024 * 1024
const BLOCK_BYTES_MAX = 512 * 1024
const NANOSECONDS = 1e9

interface Counted extends MatroskaTrack {
  samples: number
  lastSamples: number
}

export function* readMatroskaSound(from: number, to: number): Reader<number> {
  let tracks: ReadonlyMap<number, Counted> = new Map()
  let last: Counted | undefined
  let hasMissed = false
  let clusterEnd = to
  let at = from
  const budget: PartBudget = { parts: 0 }
  while (at < to) {
    yield* spend(budget)
    const head: ElementHead | undefined = readElementHead(yield { at, count: ELEMENT_HEAD_BYTES })
    const start = at + (head?.bytes ?? 0)
    const end = start + (head?.size ?? 0)
    if (at >= clusterEnd) clusterEnd = to
    const isParent = head && (PARENTS.has(head.id) || head.size === undefined)
    if (head?.id === CLUSTER) clusterEnd = head.size === undefined ? to : Math.min(end, to)
    // As players do, damaged content is passed over up to the next cluster.
    if (!head || (!isParent && end > clusterEnd)) {
      at = yield* findCluster(at + 1, to)
      continue
    }
    at = isParent ? start : end
    if (head.id === TRACKS && tracks.size === 0) {
      const content = yield { at: start, count: Math.min(end - start, TRACKS_BYTES_MAX) }
      tracks = new Map(readMatroskaTracks(content).map((one) => [one.number, startCount(one)]))
      if (hasMissed && tracks.size > 0) at = from
    } else if (head.id === SIMPLE_BLOCK || head.id === BLOCK) {
      hasMissed ||= tracks.size === 0
      last = yield* readBlock(tracks, start, end - start, budget)
    } else if (head.id === DROPPED && last) {
      const content = yield { at: start, count: Math.min(end - start, 8) }
      last.samples -= droppedSamples(content, last)
      last = undefined
    }
  }
  return longest(tracks)
}

function* findCluster(from: number, to: number): Reader<number> {
  for (let at = from; at < to; at += PIECE_BYTES - CLUSTER_MARK.length + 1) {
    const piece = yield { at, count: Math.min(PIECE_BYTES, to - at) }
    const found = piece.indexOf(CLUSTER_MARK)
    if (found !== -1) return at + found
  }
  return to
}

const startCount = (track: MatroskaTrack): Counted => ({ ...track, samples: 0, lastSamples: 0 })

function longest(tracks: ReadonlyMap<number, Counted>): number {
  let seconds: number | undefined
  for (const { codec, samples } of tracks.values()) {
    const length = samples === 0 ? 0 : Math.max(0, samples - codec.skip) / codec.rate()
    seconds = Math.max(seconds ?? 0, length)
  }
  if (seconds === undefined) throw new UnreadableSound('has no sound')
  return seconds
}

/** At most the last packet is dropped; a negative number drops from its start. */
function droppedSamples(content: Buffer, { codec, lastSamples }: Counted): number {
  if (content.length === 0) return 0
  const nanoseconds = Math.abs(
    content.length > 6 ? NANOSECONDS : content.readIntBE(0, content.length),
  )
  return Math.min(lastSamples, Math.round((nanoseconds * codec.rate()) / NANOSECONDS))
}

/** Adds a block to its track, which it returns. */
function* readBlock(
  tracks: ReadonlyMap<number, Counted>,
  start: number,
  size: number,
  budget: PartBudget,
): Reader<Counted | undefined> {
  const head = yield { at: start, count: Math.min(size, ELEMENT_HEAD_BYTES) }
  const number = readVariable(head, 0)
  const track = number?.value === undefined ? undefined : tracks.get(number.value)
  // A time of two bytes and the flags stand between the number and the packets.
  const flagsAt = (number?.bytes ?? 0) + 2
  if (!track || head.length <= flagsAt) return undefined
  const at = start + flagsAt + 1
  const bytes = start + size - at
  const { codec } = track
  const isLaced = ((head[flagsAt] ?? 0) & LACING) !== 0
  const count = isLaced ? bytes : Math.min(bytes, codec.reads)
  if (count > BLOCK_BYTES_MAX) throw new UnreadableSound('has a packet that is too large')
  const content = count === 0 ? NO_BYTES : yield { at, count }
  const packets = isLaced ? splitLaced(content, head[flagsAt] ?? 0) : [{ content, bytes }]
  if (isLaced) yield* spend(budget, packets.length)
  track.lastSamples = 0
  for (const packet of packets) {
    const { length } = track.prefix
    const whole = length === 0 ? packet.content : Buffer.concat([track.prefix, packet.content])
    track.lastSamples += codec.samplesOf(whole, packet.bytes + length)
  }
  track.samples += track.lastSamples
  return track
}

const NO_BYTES = Buffer.alloc(0)
