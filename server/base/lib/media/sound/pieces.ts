/** Reads of a whole file, piece by piece and part by part. */
import { PAUSE, type Reader } from '../reader.ts'
import { UnreadableSound } from './unreadable-sound.ts'

export const PIECE_BYTES = 64 * 1024

/** Passes the bytes between two offsets on, as far as the file reaches. */
export function* readPieces(
  from: number,
  to: number,
  push: (piece: Buffer) => void,
): Reader<undefined> {
  for (let at = from; at < to; ) {
    const piece = yield { at, count: Math.min(PIECE_BYTES, to - at) }
    if (piece.length === 0) break
    push(piece)
    at += piece.length
  }
  return undefined
}

export interface PartBudget {
  parts: number
}

export const TOO_MANY_PARTS = 'is made of too many parts'
/** More than any recording of 25 MB has. */
const PARTS_MAX = 3_000_000
const PARTS_AT_ONCE = 4096

/** Bytes that are searched in memory in about the time of a part. */
const BYTES_PER_PART = 16

/** Counts parts of a file. Throws UnreadableSound beyond a limit. */
export function* spend(budget: PartBudget, parts = 1): Reader<undefined> {
  const before = budget.parts % PARTS_AT_ONCE
  budget.parts += parts
  if (budget.parts > PARTS_MAX) throw new UnreadableSound(TOO_MANY_PARTS)
  if (before + parts >= PARTS_AT_ONCE) yield PAUSE
  return undefined
}

/** Counts bytes that are in memory, and that are searched for parts. */
export function spendBytes(budget: PartBudget, bytes: number): Reader<undefined> {
  return spend(budget, Math.floor(bytes / BYTES_PER_PART))
}
