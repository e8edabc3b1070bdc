/** Splits a block of WebM or Matroska that holds several packets. */
import { readVariable } from '../../ebml.ts'

/** The bits of a block's flags that say how its packets are separated. */
export const LACING = 0b110
const BY_BYTES = 0b010
const EVENLY = 0b100

export interface LacedPacket {
  readonly content: Buffer
  readonly bytes: number
}

/** Returns nothing for sizes that the block does not have: decoders drop it. */
export function splitLaced(block: Buffer, flags: number): LacedPacket[] {
  const count = (block[0] ?? 0) + 1
  const lacing = flags & LACING
  const { sizes, at } =
    lacing === EVENLY
      ? { sizes: Array<number>(count - 1).fill(Math.floor((block.length - 1) / count)), at: 1 }
      : lacing === BY_BYTES
        ? readSums(block, count - 1)
        : readDifferences(block, count - 1)
  const packets: LacedPacket[] = []
  let start = at
  for (const size of [...sizes, block.length - at - sizes.reduce((sum, one) => sum + one, 0)]) {
    if (size < 0) return []
    packets.push({ content: block.subarray(start, start + size), bytes: size })
    start += size
  }
  return packets
}

/** Each size is the sum of bytes, up to one below 255. */
function readSums(block: Buffer, count: number) {
  const sizes: number[] = []
  let at = 1
  while (sizes.length < count) {
    let size = 0
    for (; block[at] === 0xff; at += 1) size += 0xff
    sizes.push(size + (block[at] ?? 0))
    at += 1
  }
  return { sizes, at }
}

/** The first size is a number, each further one what it differs by from the one before. */
function readDifferences(block: Buffer, count: number) {
  const sizes: number[] = []
  let at = 1
  let size = 0
  while (sizes.length < count) {
    const read = readVariable(block, at)
    if (read?.value === undefined) return { sizes: [Infinity], at }
    const middle = sizes.length === 0 ? 0 : 2 ** (7 * read.bytes - 1) - 1
    size += read.value - middle
    sizes.push(size)
    at += read.bytes
  }
  return { sizes, at }
}
