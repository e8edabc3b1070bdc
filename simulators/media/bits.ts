// Writes bits, most significant first, with the Exp-Golomb codes of H.264.

export class BitWriter {
  private readonly bytes: number[] = []
  private current = 0
  private filled = 0

  put(value: number, width: number): void {
    for (let bit = width - 1; bit >= 0; bit -= 1) {
      this.current = (this.current << 1) | ((value >>> bit) & 1)
      this.filled += 1
      if (this.filled === 8) this.flush()
    }
  }

  /** Unsigned Exp-Golomb. */
  ue(value: number): void {
    const width = 31 - Math.clz32(value + 1)
    this.put(0, width)
    this.put(value + 1, width + 1)
  }

  /** Signed Exp-Golomb. */
  se(value: number): void {
    this.ue(value > 0 ? 2 * value - 1 : -2 * value)
  }

  alignZero(): void {
    while (this.filled !== 0) this.put(0, 1)
  }

  /** Writes the stop bit and the alignment that end every NAL unit. */
  trail(): void {
    this.put(1, 1)
    this.alignZero()
  }

  take(): Buffer {
    return Buffer.from(this.bytes)
  }

  private flush(): void {
    this.bytes.push(this.current)
    this.current = 0
    this.filled = 0
  }
}
