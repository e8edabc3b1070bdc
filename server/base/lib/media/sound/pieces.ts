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

/** More than any recording of 25 MB has. */
const PARTS_MAX = 3_000_000
const PARTS_AT_ONCE = 4096

/** Counts a part of a file. Throws UnreadableSound beyond a limit. */
export function* spend(budget: PartBudget): Reader<undefined> {
  budget.parts += 1
  if (budget.parts > PARTS_MAX) throw new UnreadableSound('is made of too many parts')
  if (budget.parts % PARTS_AT_ONCE === 0) yield PAUSE
  return undefined
}
