/**
 * Reads AWS's event stream: frames of a prelude with its own checksum, headers, a payload and a
 * checksum of all (docs/protocols/bedrock.md#frames). Frames do not align with chunks.
 */
import { crc32 } from 'node:zlib'

export interface EventFrame {
  /** Header values that are texts, by name. */
  readonly headers: ReadonlyMap<string, string>
  readonly payload: Buffer
}

export interface FrameDecoder {
  /**
   * Feeds bytes. Throws at the first frame that is damaged or too large, behind those before it in
   * the same chunk, which the vendor may bill.
   */
  push(chunk: Buffer): Iterable<EventFrame>
  /** Bytes of an unfinished frame. */
  heldBytes(): number
}

const PRELUDE_BYTES = 12
const CHECKSUM_BYTES = 4
const HEADERS_BYTES_MAX = 128 * 1024
const FRAME_BYTES_MAX = 24 * 1024 * 1024 + HEADERS_BYTES_MAX

export function createFrameDecoder(): FrameDecoder {
  const prelude = Buffer.alloc(PRELUDE_BYTES)
  /** Of the frame whose prelude is complete. */
  let frame: Buffer | undefined
  let filled = 0
  return {
    *push(chunk) {
      let position = 0
      while (position < chunk.length) {
        const target: Buffer = frame ?? prelude
        const copied = chunk.copy(target, filled, position)
        filled += copied
        position += copied
        if (filled < target.length) break
        if (frame) {
          yield readFrame(frame)
          frame = undefined
          filled = 0
        } else {
          frame = Buffer.allocUnsafe(readLength(prelude))
          prelude.copy(frame)
        }
      }
    },
    heldBytes: () => (frame ? frame.length : filled),
  }
}

/** Returns the length of the frame. Checked first: nothing is kept for a length that is damaged. */
function readLength(prelude: Buffer): number {
  const length = prelude.readUInt32BE(0)
  const headersLength = prelude.readUInt32BE(4)
  if (crc32(prelude.subarray(0, 8)) !== prelude.readUInt32BE(8)) throw new Error('damaged prelude')
  const least = PRELUDE_BYTES + headersLength + CHECKSUM_BYTES
  if (headersLength > HEADERS_BYTES_MAX || length < least || length > FRAME_BYTES_MAX) {
    throw new Error(`a frame of ${length} bytes with ${headersLength} of headers`)
  }
  return length
}

function readFrame(frame: Buffer): EventFrame {
  const end = frame.length - CHECKSUM_BYTES
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) throw new Error('damaged frame')
  const headersEnd = PRELUDE_BYTES + frame.readUInt32BE(4)
  return {
    headers: readHeaders(frame.subarray(PRELUDE_BYTES, headersEnd)),
    payload: frame.subarray(headersEnd, end),
  }
}

const TEXT = 7
/** Bytes of a value by its type; those of the other types state their own length. */
const FIXED_SIZES: Readonly<Record<number, number>> = {
  0: 0,
  1: 0,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  8: 8,
  9: 16,
}

function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>()
  for (let position = 0; position < bytes.length; ) {
    const nameEnd = position + 1 + bytes.readUInt8(position)
    const type = bytes.readUInt8(nameEnd)
    const fixed = FIXED_SIZES[type]
    const start = nameEnd + (fixed === undefined ? 3 : 1)
    const end = start + (fixed ?? bytes.readUInt16BE(nameEnd + 1))
    if (end > bytes.length) throw new Error('a header is cut off')
    if (type === TEXT)
      headers.set(bytes.toString('utf8', position + 1, nameEnd), bytes.toString('utf8', start, end))
    position = end
  }
  return headers
}
