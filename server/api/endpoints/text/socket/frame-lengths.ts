/**
 * Reads the lengths of a WebSocket's frames from its bytes (RFC 6455, section 5.2). The length
 * stands in front of the content, so the size of a frame is known before its content is in memory.
 */

const LENGTH_BITS = 0x7f
const IS_MASKED = 0x80
const MASK_BYTES = 4
/** The first byte of a frame, and the one that has its length. */
const HEAD_BYTES = 2
/** With a length of eight bytes and a mask. */
const HEAD_BYTES_MAX = 14
/** A length of this value stands in the next two bytes, a larger one in the next eight. */
const IN_TWO = 126

export class FrameLengths {
  private readonly longBytes: number
  private readonly onLong: (bytes: number) => void
  /** The beginning of a head whose end is in the next chunk. */
  private readonly head = Buffer.alloc(HEAD_BYTES_MAX)
  private headBytes = 0
  /** Bytes of the content of the frame, and those of them that are still to come. */
  private length = 0
  private rest = 0

  /** `onLong` gets the length of each frame of more than `longBytes` once its head is there. */
  constructor(longBytes: number, onLong: (bytes: number) => void) {
    this.longBytes = longBytes
    this.onLong = onLong
  }

  /** Returns how many of the bytes are not the content of a long frame. */
  push(chunk: Buffer): number {
    let others = 0
    for (let at = 0; at < chunk.length; ) {
      if (this.rest === 0) {
        const passed = this.passHead(chunk, at)
        others += passed
        at += passed
        continue
      }
      const passed = Math.min(this.rest, chunk.length - at)
      if (!this.isInLong()) others += passed
      this.rest -= passed
      at += passed
    }
    return others
  }

  /** Returns true while the content of a long frame arrives. */
  isInLong(): boolean {
    return this.rest > 0 && this.length > this.longBytes
  }

  /** Returns how many bytes of the current long frame have arrived. */
  arrivedOfLong(): number {
    return this.isInLong() ? this.length - this.rest : 0
  }

  /**
   * Reads a head, or a single byte of a head that is not completely in the chunk. Returns the
   * number of bytes read.
   */
  private passHead(chunk: Buffer, at: number): number {
    if (this.headBytes === 0) {
      const size = sizeOfHead(chunk, at, chunk.length)
      if (size !== undefined) {
        this.begin(chunk, at)
        return size
      }
    }
    this.head[this.headBytes] = chunk[at] ?? 0
    this.headBytes += 1
    if (sizeOfHead(this.head, 0, this.headBytes) !== undefined) {
      this.headBytes = 0
      this.begin(this.head, 0)
    }
    return 1
  }

  private begin(bytes: Buffer, at: number): void {
    const short = (bytes[at + 1] ?? 0) & LENGTH_BITS
    const from = at + HEAD_BYTES
    if (short < IN_TWO) this.length = short
    else if (short === IN_TWO) this.length = bytes.readUInt16BE(from)
    else this.length = Number(bytes.readBigUInt64BE(from))
    this.rest = this.length
    if (this.length > this.longBytes) this.onLong(this.length)
  }
}

/** Returns the size of the head at `at`; undefined if it does not end before `end`. */
function sizeOfHead(bytes: Buffer, at: number, end: number): number | undefined {
  if (at + HEAD_BYTES > end) return undefined
  const second = bytes[at + 1] ?? 0
  const short = second & LENGTH_BITS
  const lengthBytes = short < IN_TWO ? 0 : short === IN_TWO ? 2 : 8
  const size = HEAD_BYTES + lengthBytes + ((second & IS_MASKED) === 0 ? 0 : MASK_BYTES)
  return at + size > end ? undefined : size
}
