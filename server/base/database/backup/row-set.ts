/**
 * An order-independent digest of rows: PostgreSQL guarantees no order, and rows of different widths
 * are stored elsewhere when loaded again.
 */
import { hash } from 'node:crypto'

const WORDS = 8
const WORD_BYTES = 4
/** Sums of this many 32-bit words are exact in a double. */
const CARRY_ROWS = 2 ** 20
const MODULUS = 1n << 256n

export interface RowSet {
  readonly rows: number
  /** 64 hexadecimal digits. */
  readonly digest: string
}

export interface RowSetMeter {
  /** Adds one row: its bytes in COPY text format, without the newline. */
  add(row: Buffer): void
  read(): RowSet
}

/**
 * Sums the SHA-256 of each row modulo 2^256. The same rows give the same digest in any order, and
 * duplicate rows count. Memory use is constant.
 */
export function createRowSetMeter(): RowSetMeter {
  const words = new Float64Array(WORDS)
  let rows = 0
  let total = 0n
  function carry(): void {
    for (let index = 0; index < WORDS; index += 1) {
      total += BigInt(words[index] ?? 0) << BigInt(32 * (WORDS - 1 - index))
    }
    total %= MODULUS
    words.fill(0)
  }
  return {
    add(row) {
      const digest = hash('sha256', row, 'buffer')
      for (let index = 0; index < WORDS; index += 1) {
        words[index] = (words[index] ?? 0) + digest.readUInt32BE(index * WORD_BYTES)
      }
      rows += 1
      if (rows % CARRY_ROWS === 0) carry()
    },
    read() {
      carry()
      return { rows, digest: total.toString(16).padStart(64, '0') }
    },
  }
}
