/**
 * Reads the lengths of a WebSocket's frames from its bytes (RFC 6455, section 5.2). The length
 * stands in front of the content, so what a peer begins to send is known before it is in memory.
 */

const LENGTH_BITS = 0x7f
const IS_MASKED = 0x80
const MASK_BYTES = 4
/** The first byte of a frame, and the one that has its length. */
const HEAD_BYTES = 2
/** A length of this value stands in the next two bytes, a larger one in the next eight. */
const IN_TWO = 126

export class FrameLengths {
  private readonly longBytes: number
  private readonly onLong: (bytes: number) => void
  /** The bytes of a head that is not complete. */
  private head: number[] = []
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
      const step = this.rest > 0 ? Math.min(this.rest, chunk.length - at) : 1
      if (!this.isInLong()) others += step
      if (this.rest > 0) this.rest -= step
      else this.pushHead(chunk[at] ?? 0)
      at += step
    }
    return others
  }

  /** Returns true while the content of a long frame arrives. */
  isInLong(): boolean {
    return this.rest > 0 && this.length > this.longBytes
  }

  private pushHead(byte: number): void {
    this.head.push(byte)
    const [, second = 0] = this.head
    const short = second & LENGTH_BITS
    const more = short < IN_TWO ? 0 : short === IN_TWO ? 2 : 8
    const mask = (second & IS_MASKED) === 0 ? 0 : MASK_BYTES
    if (this.head.length < HEAD_BYTES + more + mask) return
    const written = this.head.slice(HEAD_BYTES, HEAD_BYTES + more)
    this.length = more === 0 ? short : written.reduce((sum, one) => sum * 256 + one, 0)
    this.rest = this.length
    this.head = []
    if (this.length > this.longBytes) this.onLong(this.length)
  }
}
