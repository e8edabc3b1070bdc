/**
 * Samples of Vorbis packets. A packet names its mode, and the mode one of two sizes of blocks; it
 * yields what its block overlaps with the one before.
 */
import { createBitReader } from './bits.ts'
import type { SoundCodec } from './sound-codec.ts'

const HEADER_BYTES = 30
const MODE_BITS = 41
const MODES_MAX = 64
const MAPPING_MAX = 63

/**
 * Returns undefined if the two headers are not those of a Vorbis stream. The modes stand at the end
 * of the second, so that they are read backwards.
 */
export function vorbisCodec(identification: Buffer, setup: Buffer): SoundCodec | undefined {
  if (identification.length < HEADER_BYTES) return undefined
  const rate = identification.readUInt32LE(12)
  const sizes = identification[28] ?? 0
  const blocks = [1 << (sizes & 0xf), 1 << (sizes >>> 4)]
  const modes = readModes(setup)
  if (!modes || rate === 0) return undefined
  const modeBits = Math.ceil(Math.log2(modes.length))
  let before: number | undefined
  return {
    rate: () => rate,
    skip: 0,
    reads: 1,
    samplesOf(packet) {
      const first = packet[0] ?? 1
      // A packet of sound begins with a bit that is not set.
      if ((first & 1) === 1) return 0
      const isLong = modes[(first >>> 1) & ((1 << modeBits) - 1)] ?? 0
      const block = blocks[isLong] ?? 0
      const samples = before === undefined ? 0 : (before + block) / 4
      before = block
      return samples
    },
  }
}

/**
 * Returns for each mode whether its blocks are long. Backwards: padding, a bit that is set, then
 * modes of 41 bits each (mapping, two zeros of 16 bits, length of block) and the number of modes.
 */
function readModes(setup: Buffer): readonly number[] | undefined {
  const reversed = Buffer.from(setup).reverse()
  const used = reversed.findIndex((byte) => byte !== 0)
  if (used === -1) return undefined
  const start = used * 8 + Math.clz32(reversed[used] ?? 0) - 24 + 1
  const modes: number[] = []
  let found: number | undefined
  while (modes.length < MODES_MAX) {
    const bits = createBitReader(reversed, start + modes.length * MODE_BITS)
    if (bits.read(8) > MAPPING_MAX || bits.read(32) !== 0) break
    modes.push(bits.read(1))
    if (bits.read(6) + 1 === modes.length) found = modes.length
  }
  return found === undefined ? undefined : modes.slice(0, found).reverse()
}
