/** Reads the packets of a fragment (`moof`) of an MP4 file. */
import type { Reader } from '../../reader.ts'
import { type PartBudget, spend } from '../pieces.ts'
import { findBoxIn, listBoxes } from './loaded-boxes.ts'
import type { Mp4Sample } from './mp4-track.ts'

/** The usual size of a packet, by track. */
export type FragmentDefaults = ReadonlyMap<number, number>

const HAS_BASE = 0x1
const HAS_DESCRIPTION = 0x2
const HAS_DURATION = 0x8
const HAS_SIZE = 0x10
const HAS_OFFSET = 0x1
const HAS_FIRST_FLAGS = 0x4
const SAMPLE_DURATION = 0x100
const SAMPLE_SIZE = 0x200
const SAMPLE_FLAGS = 0x400
const SAMPLE_TIME = 0x800

/** `movie` is the content of `moov`. */
export function* readDefaults(movie: Buffer, budget: PartBudget): Reader<FragmentDefaults> {
  const defaults = new Map<number, number>()
  for (const { type, content } of listBoxes(findBoxIn(movie, ['mvex']))) {
    yield* spend(budget)
    if (type !== 'trex' || content.length < 20) continue
    defaults.set(content.readUInt32BE(4), content.readUInt32BE(16))
  }
  return defaults
}

/**
 * `content` is that of a `moof` that stands at `from`. Yields undefined for a box without packets.
 */
export function* listFragment(
  content: Buffer,
  from: number,
  defaults: FragmentDefaults,
): Generator<(Mp4Sample & { readonly track: number }) | undefined> {
  for (const { type, content: fragment } of listBoxes(content)) {
    yield undefined
    const header = type === 'traf' ? findBoxIn(fragment, ['tfhd']) : undefined
    if (!header || header.length < 8) continue
    const track = header.readUInt32BE(4)
    const { base, size } = readHeader(header, from, defaults.get(track) ?? 0)
    let next = base
    for (const run of listBoxes(fragment)) {
      yield undefined
      if (run.type !== 'trun' || run.content.length < 8) continue
      for (const sample of listRun(run.content, base, next, size)) {
        next = sample.at + sample.bytes
        yield { ...sample, track }
      }
    }
  }
}

/** Returns the offset that runs count from, and the usual size of a packet. */
function readHeader(header: Buffer, from: number, usual: number) {
  const flags = header.readUIntBE(1, 3)
  let at = 8
  let base = from
  if ((flags & HAS_BASE) !== 0) {
    base = header.length < at + 8 ? from : Number(header.readBigUInt64BE(at))
    at += 8
  }
  for (const flag of [HAS_DESCRIPTION, HAS_DURATION]) if ((flags & flag) !== 0) at += 4
  const hasSize = (flags & HAS_SIZE) !== 0 && header.length >= at + 4
  return { base, size: hasSize ? header.readUInt32BE(at) : usual }
}

function* listRun(
  content: Buffer,
  base: number,
  next: number,
  usual: number,
): Generator<Mp4Sample> {
  const flags = content.readUIntBE(1, 3)
  const count = content.readUInt32BE(4)
  let at = 8
  let from = next
  if ((flags & HAS_OFFSET) !== 0 && content.length >= at + 4) {
    from = base + content.readInt32BE(at)
    at += 4
  }
  if ((flags & HAS_FIRST_FLAGS) !== 0) at += 4
  const fields = [SAMPLE_DURATION, SAMPLE_SIZE, SAMPLE_FLAGS, SAMPLE_TIME]
  const bytesEach = fields.filter((flag) => (flags & flag) !== 0).length * 4
  const sizeAt = (flags & SAMPLE_DURATION) === 0 ? 0 : 4
  const hasSizes = (flags & SAMPLE_SIZE) !== 0
  if (!hasSizes && usual === 0) return
  for (let index = 0; index < count && at + bytesEach <= content.length; index += 1) {
    const bytes = hasSizes ? content.readUInt32BE(at + sizeAt) : usual
    yield { at: from, bytes, ticks: 0 }
    from += bytes
    at += bytesEach
  }
}
