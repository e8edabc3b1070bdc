/**
 * Measures an MPEG program stream by the frames of its sound. The longest of several streams
 * counts.
 */
import type { Reader } from '../reader.ts'
import { createFrameCounter, type FrameCounter } from './codecs/count-frames.ts'
import { MPEG } from './codecs/frame-formats.ts'
import { type PartBudget, readPieces, spend } from './pieces.ts'
import { UnreadableSound } from './unreadable-sound.ts'

const HEAD_BYTES = 32
const START_CODE = 1
const PACK = 0xba
const OTHER_SOUND = 0xbd

export function* readMpegSound(from: number, to: number): Reader<number> {
  const counters = new Map<number, FrameCounter>()
  let hasOther = false
  let at = from
  const budget: PartBudget = { parts: 0 }
  while (at < to) {
    yield* spend(budget)
    const head = yield { at, count: HEAD_BYTES }
    const code = head.length >= 6 && head.readUIntBE(0, 3) === START_CODE ? head[3] : undefined
    if (code === undefined) {
      // Of content that is cut off or damaged, the next packet is looked for.
      at += Math.max(1, findStartCode(head))
      continue
    }
    if (code === PACK) {
      at += packBytes(head)
      continue
    }
    const end = code < PACK ? at + 4 : at + 6 + head.readUInt16BE(4)
    if ((code & 0xe0) === 0xc0) {
      const counter = counters.get(code) ?? createFrameCounter(MPEG)
      counters.set(code, counter)
      yield* readPieces(at + payloadAt(head), Math.min(end, to), counter.push)
    }
    hasOther ||= code === OTHER_SOUND
    at = end
  }
  if (counters.size === 0) throw new UnreadableSound(hasOther ? OTHER : 'has no sound')
  return Math.max(...[...counters.values()].map((counter) => counter.seconds()))
}

const OTHER = 'has sound of a codec that is not read'

function findStartCode(head: Buffer): number {
  const found = head.indexOf(START_BYTES, 1)
  return found === -1 ? head.length - START_BYTES.length + 1 : found
}

const START_BYTES = Buffer.from([0, 0, 1])

/** The second version of the format has longer packs, and stuffing. */
function packBytes(head: Buffer): number {
  const isSecond = (head[4] ?? 0) >>> 6 === 1
  return isSecond ? 14 + ((head[13] ?? 0) & 7) : 12
}

/** Returns the offset of the payload in a packet. */
function payloadAt(head: Buffer): number {
  let at = 6
  if ((head[at] ?? 0) >>> 6 === 2) return at + 3 + (head[at + 2] ?? 0)
  while (head[at] === 0xff) at += 1
  if ((head[at] ?? 0) >>> 6 === 1) at += 2
  const times = (head[at] ?? 0) >>> 4
  return at + (times === 2 ? 5 : times === 3 ? 10 : 1)
}
