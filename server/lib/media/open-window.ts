/** Reads here and there in a file that nobody trusts, a bounded number of bytes of it in all. */

/** Of stored content: resolves to no more than was asked for. */
export type ReadRange = (start: number, end: number) => Promise<Buffer>

export interface Window {
  /** Of the whole file. */
  readonly bytes: number
  /** `count` bytes from `start` on; fewer at the end of the file. Throws WindowExhausted. */
  at(start: number, count: number): Promise<Buffer>
}

/** The file wants to be looked at for longer than anybody's good file needs. */
export class WindowExhausted extends Error {}

const PIECE_BYTES = 16 * 1024
const PIECES_MAX = 128

/** Pieces are read whole and the last is kept: headers lie together. */
export function openWindow(bytes: number, read: ReadRange): Window {
  let pieceStart = 0
  let piece: Buffer = Buffer.alloc(0)
  let pieces = 0
  return {
    bytes,
    async at(start, count) {
      const end = Math.min(start + count, bytes)
      if (start < 0 || end <= start) return Buffer.alloc(0)
      if (count > PIECE_BYTES) throw new WindowExhausted()
      if (start < pieceStart || end > pieceStart + piece.length) {
        pieces += 1
        if (pieces > PIECES_MAX) throw new WindowExhausted()
        piece = await read(start, Math.min(start + PIECE_BYTES, bytes) - 1)
        pieceStart = start
      }
      return piece.subarray(start - pieceStart, end - pieceStart)
    },
  }
}
