/** Reads numbers of bits, the highest first. */
export interface BitReader {
  /** Reads at most 32 bits; beyond the end they are 0. */
  read(count: number): number
}

/** Begins after this many bits. */
export function createBitReader(bytes: Uint8Array, start = 0): BitReader {
  let at = start
  return {
    read(count) {
      let value = 0
      for (let left = count; left > 0; left -= 1) {
        const byte = bytes[at >>> 3] ?? 0
        value = value * 2 + ((byte >>> (7 - (at & 7))) & 1)
        at += 1
      }
      return value
    },
  }
}
