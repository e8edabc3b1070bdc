/**
 * Detects compressed data by its first bytes, for answers whose header does not name an encoding.
 * Brotli and bare deflate have no signature.
 */
import type { Transform } from 'node:stream'
import {
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzip,
  inflate,
  zstdDecompress,
} from 'node:zlib'

type Decode = (
  bytes: Buffer,
  options: { readonly maxOutputLength: number; readonly chunkSize: number },
  done: (error: Error | null, decoded: Buffer) => void,
) => void

export interface Packing {
  readonly createDecoder: () => Transform
  readonly decode: Decode
}

interface Signature extends Packing {
  readonly start: Buffer
  /** Raw audio samples may begin like this, but texts never do. */
  readonly textOnly?: true
}

const ZLIB = { createDecoder: createInflate, decode: inflate, textOnly: true } as const
const SIGNATURES: readonly Signature[] = [
  // The third byte is the only method that exists (RFC 1952).
  { start: Buffer.of(0x1f, 0x8b, 0x08), createDecoder: createGunzip, decode: gunzip },
  {
    start: Buffer.of(0x28, 0xb5, 0x2f, 0xfd),
    createDecoder: createZstdDecompress,
    decode: zstdDecompress,
  },
  // The levels of RFC 1950 whose second byte is no letter.
  { start: Buffer.of(0x78, 0x01), ...ZLIB },
  { start: Buffer.of(0x78, 0x9c), ...ZLIB },
  { start: Buffer.of(0x78, 0xda), ...ZLIB },
]

const FIRST_BYTES: ReadonlySet<number | undefined> = new Set(
  SIGNATURES.map(({ start }) => start[0]),
)

/** A decoder's buffers: few large ones go back to the system, many small ones leave holes. */
const PIECE_BYTES_MIN = 16 * 1024
const PIECE_BYTES_MAX = 1024 * 1024

/** Returns the buffer size for decompressing this many packed bytes. */
export function chunkSizeFor(packedBytes: number): number {
  return Math.min(PIECE_BYTES_MAX, Math.max(PIECE_BYTES_MIN, packedBytes * 4))
}

/** Returns undefined for other data, and `undecided` while more bytes are needed. */
export function detectPacking(head: Buffer, isText: boolean): Packing | 'undecided' | undefined {
  if (head.length === 0) return 'undecided'
  if (!FIRST_BYTES.has(head[0])) return undefined
  for (const signature of SIGNATURES) {
    const { start, textOnly } = signature
    if (textOnly && !isText) continue
    const known = Math.min(head.length, start.length)
    if (head.compare(start, 0, known, 0, known) !== 0) continue
    return known === start.length ? signature : 'undecided'
  }
  return undefined
}

/** Resolves to the bytes, decompressed if they are packed. Rejects if that exceeds `bytesMax`. */
export async function unpackBytes(
  bytes: Buffer,
  bytesMax: number,
  isText: boolean,
): Promise<Buffer> {
  const packing = detectPacking(bytes, isText)
  if (packing === undefined || packing === 'undecided') return bytes
  return new Promise((resolve, reject) => {
    const options = { maxOutputLength: bytesMax, chunkSize: chunkSizeFor(bytes.length) }
    packing.decode(bytes, options, (error, decoded) => {
      if (error) reject(error)
      else resolve(decoded)
    })
  })
}
