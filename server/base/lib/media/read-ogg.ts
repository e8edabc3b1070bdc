/** Reads the length of an Ogg file with Opus or Vorbis from the position of its last page. */
import type { Window } from './open-window.ts'

const HEAD_BYTES = 256
const TAIL_BYTES = 16 * 1024
const TAILS_MAX = 5
const PAGE_BYTES = 27
const OPUS_RATE = 48_000

interface Stream {
  readonly rate: number
  readonly serial: number
  /** Samples that a decoder discards at the start. */
  readonly skip: number
}

export async function readOgg(window: Window): Promise<number | undefined> {
  const stream = readStream(await window.at(0, HEAD_BYTES))
  if (!stream) return undefined
  const last = await findLastPosition(window, stream.serial)
  return last === undefined ? undefined : Math.max(0, last - stream.skip) / stream.rate
}

function readStream(head: Buffer): Stream | undefined {
  const segments = head[PAGE_BYTES - 1] ?? 0
  const at = PAGE_BYTES + segments
  if (head.length < at + 16) return undefined
  const serial = head.readUInt32LE(14)
  if (head.toString('latin1', at, at + 8) === 'OpusHead') {
    return { rate: OPUS_RATE, serial, skip: head.readUInt16LE(at + 10) }
  }
  if (head.toString('latin1', at, at + 7) !== '\x01vorbis') return undefined
  const rate = head.readUInt32LE(at + 12)
  return rate > 0 ? { rate, serial, skip: 0 } : undefined
}

/** Pages have at most 64 KiB, so one begins within the last few pieces. */
async function findLastPosition(window: Window, serial: number): Promise<number | undefined> {
  for (let tails = 1; tails <= TAILS_MAX; tails += 1) {
    const start = Math.max(0, window.bytes - tails * (TAIL_BYTES - PAGE_BYTES))
    const tail = await window.at(start, TAIL_BYTES)
    const found = lastPositionIn(tail, serial)
    if (found !== undefined || start === 0) return found
  }
  return undefined
}

/** Skips pages on which no packet ends (position −1) and matches of other streams. */
function lastPositionIn(piece: Buffer, serial: number): number | undefined {
  let at = piece.lastIndexOf('OggS')
  while (at >= 0) {
    if (at + PAGE_BYTES <= piece.length && piece[at + 4] === 0) {
      const position = Number(piece.readBigInt64LE(at + 6))
      if (piece.readUInt32LE(at + 14) === serial && position > 0) return position
    }
    at = at === 0 ? -1 : piece.lastIndexOf('OggS', at - 1)
  }
  return undefined
}
