/** Random access to an untrusted file, limited to a total number of bytes. */

/** Reads stored content; resolves to at most the requested range. */
export type ReadRange = (start: number, end: number) => Promise<Buffer>

export interface Window {
  /** Size of the whole file. */
  readonly bytes: number
  /**
   * Reads `count` bytes from `start`; fewer at the end of the file. Rejects with WindowExhausted.
   */
  at(start: number, count: number): Promise<Buffer>
}

/** More of the file was requested than any valid file needs. */
export class WindowExhausted extends Error {}

const PIECE_BYTES = 16 * 1024
const PIECES_MAX = 128

/** Reads whole pieces and caches the last one, since headers are adjacent. */
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
