/** Random access to an untrusted file, limited to a total number of bytes. */

/** Reads stored content; resolves to the requested range, or to as much of it as is there. */
export type ReadRange = (start: number, end: number) => Promise<Buffer>

export interface Window {
  /** Size of the whole file. */
  readonly bytes: number
  /** Returns `count` bytes from `start`, if they are in memory already. */
  cached(start: number, count: number): Buffer | undefined
  /**
   * Reads `count` bytes from `start`; fewer at the end of the file. Rejects with WindowExhausted or
   * UnseenBytes.
   */
  at(start: number, count: number): Promise<Buffer>
}

/** More of the file was requested than any valid file needs. */
export class WindowExhausted extends Error {}

/**
 * The requested bytes are not all available: only the beginning and the end of the file are known.
 */
export class UnseenBytes extends Error {}

export interface WindowLimits {
  readonly pieceBytes: number
  readonly piecesMax: number
}

const FOR_HEADERS: WindowLimits = { pieceBytes: 16 * 1024, piecesMax: 128 }

/** Reads whole pieces and caches the last one, since headers are adjacent. */
export function openWindow(
  bytes: number,
  read: ReadRange,
  { pieceBytes, piecesMax }: WindowLimits = FOR_HEADERS,
): Window {
  let pieceStart = 0
  let piece: Buffer = Buffer.alloc(0)
  let pieces = 0

  function cached(start: number, count: number): Buffer | undefined {
    const end = Math.min(start + count, bytes)
    if (start < 0 || end <= start) return NOTHING
    const isThere = start >= pieceStart && end <= pieceStart + piece.length
    return isThere ? piece.subarray(start - pieceStart, end - pieceStart) : undefined
  }

  return {
    bytes,
    cached,
    async at(start, count) {
      const known = cached(start, count)
      if (known) return known
      pieces += Math.ceil(count / pieceBytes)
      if (pieces > piecesMax) throw new WindowExhausted()
      const end = Math.min(start + Math.max(count, pieceBytes), bytes)
      piece = await read(start, end - 1)
      pieceStart = start
      if (piece.length < Math.min(count, bytes - start)) throw new UnseenBytes()
      return piece.subarray(0, count)
    },
  }
}

const NOTHING = Buffer.alloc(0)
