/** Repeatable randomness: every proof prints its seed and accepts it as an argument. */
export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** A whole number, both ends included. */
  integer(from: number, to: number): number
  pick<T>(list: readonly [T, ...T[]]): T
  bytes(length: number): Buffer
}

/** The mulberry32 generator: small, and good enough to choose among cases. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    integer,
    pick: (list) => list[integer(0, list.length - 1)] ?? list[0],
    bytes: (length) => Buffer.from(Array.from({ length }, () => integer(0, 255))),
  }
}
