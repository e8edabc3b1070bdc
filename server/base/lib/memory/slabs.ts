/**
 * Keeps bytes that wait for more of them, copied together. A chunk from a socket has a buffer of
 * 64 KB: many that are kept between small objects leave holes in the C library's heap, which stay
 * resident for ever. A slab of a megabyte goes back to the system when it is freed.
 */
const FIRST_BYTES = 4 * 1024
/**
 * The first slab grows up to this size: most waiting data is small, and then stays in one piece.
 */
const WHOLE_BYTES = 16 * 1024
const SLAB_BYTES_MAX = 1024 * 1024
/** A smaller buffer may be part of memory that others share. */
const FREED_BYTES_MIN = 128 * 1024
const NOTHING = Buffer.alloc(0)

export class Slabs {
  private full: Buffer[] = []
  private last: Buffer = NOTHING
  /** Of the last one. */
  private used = 0
  bytes = 0
  /** Memory for them: at most twice as much, or a megabyte more. */
  capacity = 0

  add(chunk: Buffer): void {
    this.bytes += chunk.length
    for (let from = 0; from < chunk.length; ) {
      if (this.used === this.last.length) this.addSlab(chunk.length - from)
      const copied = chunk.copy(this.last, this.used, from)
      this.used += copied
      from += copied
    }
  }

  /** Takes the bytes out in pieces. What was allocated is not kept: the next may be few. */
  take(): readonly Buffer[] {
    const pieces = this.full
    if (this.used > 0) pieces.push(this.last.subarray(0, this.used))
    this.full = []
    this.last = NOTHING
    this.used = 0
    this.bytes = 0
    this.capacity = 0
    return pieces
  }

  /** Takes the bytes out in one. */
  takeWhole(): Buffer {
    const pieces = this.take()
    if (pieces.length === 1) return pieces[0] as Buffer
    const whole = Buffer.concat(pieces)
    // The slabs are freed here: nobody else has a reference, and a collection would free them much
    // later.
    for (const { buffer } of pieces) {
      if (buffer.byteLength >= FREED_BYTES_MIN && buffer instanceof ArrayBuffer) buffer.transfer(0)
    }
    return whole
  }

  /** The next slab is as large as all previous ones together, so that there are few. */
  private addSlab(neededBytes: number): void {
    const whole = Math.max(this.used + neededBytes, 2 * this.last.length)
    if (this.used > 0 && this.full.length === 0 && whole <= WHOLE_BYTES) {
      const larger = Buffer.allocUnsafe(whole)
      this.last.copy(larger, 0, 0, this.used)
      this.last = larger
      this.capacity = whole
      return
    }
    if (this.used > 0) this.full.push(this.last)
    const size = Math.min(SLAB_BYTES_MAX, Math.max(FIRST_BYTES, neededBytes, this.capacity))
    this.last = Buffer.allocUnsafe(size)
    this.used = 0
    this.capacity += size
  }
}
