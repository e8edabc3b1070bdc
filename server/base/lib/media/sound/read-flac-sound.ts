/**
 * Measures a FLAC file by its frames: the number of samples in its first block may be missing or
 * wrong.
 */
import type { Reader } from '../reader.ts'
import { createClock } from './codecs/clock.ts'
import { FLAC_HEAD_BYTES, type FlacFrame, readFlacFrame } from './codecs/flac-frame.ts'
import { PIECE_BYTES } from './pieces.ts'

const MARK_BYTES = 4
const BLOCK_HEAD_BYTES = 4
const LAST_BLOCK = 0x80
const INFO_BYTES = 18
const RATE_AT = 10
/** Other content holds a header by chance less often than once in so many bytes. */
const CHANCE_BYTES = 256 * 1024

/** Reads from the mark of the file on. */
export function* readFlacSound(from: number, to: number): Reader<number> {
  const info = yield { at: from + MARK_BYTES + BLOCK_HEAD_BYTES, count: INFO_BYTES }
  if (info.length < INFO_BYTES) return 0
  const scanner = createFrameScanner(info.readUInt32BE(RATE_AT) >>> 12)
  let at = yield* skipBlocks(from + MARK_BYTES)
  while (at < to) {
    const piece = yield { at, count: PIECE_BYTES }
    if (piece.length === 0) break
    const isLast = at + piece.length >= to
    at += scanner.scan(isLast ? Buffer.concat([piece, Buffer.alloc(FLAC_HEAD_BYTES)]) : piece)
  }
  return scanner.seconds()
}

function* skipBlocks(from: number): Reader<number> {
  for (let at = from; ; ) {
    const head = yield { at, count: BLOCK_HEAD_BYTES }
    if (head.length < BLOCK_HEAD_BYTES) return at
    at += BLOCK_HEAD_BYTES + head.readUIntBE(1, 3)
    if ((head[0] ?? 0) >= LAST_BLOCK) return at
  }
}

/** Finds frames, whose length is not stated: a header is one where the next is expected. */
function createFrameScanner(streamRate: number) {
  const clock = createClock()
  let last: FlacFrame | undefined
  const doubtful = createClock()
  let doubts = 0
  let scannedBytes = 0

  function take(frame: FlacFrame): void {
    const { samples, rate = streamRate, number, kind } = frame
    if (!rate) return
    const isNext = !last || number === last.nextNumber || number === 0 || kind === last.kind
    if (isNext) {
      last = frame
      clock.add(samples, rate)
    } else {
      doubts += 1
      doubtful.add(samples, rate)
    }
  }

  return {
    /** Returns the bytes that need not be passed again: all but what may begin a header. */
    scan(piece: Buffer): number {
      const end = Math.max(1, piece.length - FLAC_HEAD_BYTES)
      for (let at = piece.indexOf(0xff); at !== -1 && at < end; at = piece.indexOf(0xff, at + 1)) {
        const frame = readFlacFrame(piece, at)
        if (frame) take(frame)
      }
      scannedBytes += end
      return end
    },
    /** Counts headers out of order too, where they are too many to stand there by chance. */
    seconds(): number {
      const isByChance = doubts <= 2 + scannedBytes / CHANCE_BYTES
      return clock.seconds() + (isByChance ? 0 : doubtful.seconds())
    },
  }
}
