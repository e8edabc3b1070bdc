/** Measures an AIFF or AIFC file by the samples that are there. */
import type { Reader } from '../reader.ts'
import { UnreadableSound } from './unreadable-sound.ts'

const FORM_BYTES = 12
const CHUNK_HEAD_BYTES = 8
const COMMON_BYTES = 18
const TYPE_BYTES = 4
/** The offset and the size of blocks before the samples. */
const SOUND_HEAD_BYTES = 8
const CHUNKS_MAX = 10_000
const EXPONENT_BIAS = 16_383 + 63

/** Bytes of a sample, or of a block of so many samples, of one channel. Undefined: by its bits. */
const TYPES: ReadonlyMap<string, readonly [bytes: number | undefined, samples: number]> = new Map([
  ['NONE', [undefined, 1]],
  ['twos', [undefined, 1]],
  ['sowt', [undefined, 1]],
  ['raw ', [undefined, 1]],
  ['in24', [3, 1]],
  ['in32', [4, 1]],
  ['fl32', [4, 1]],
  ['FL32', [4, 1]],
  ['fl64', [8, 1]],
  ['FL64', [8, 1]],
  ['ulaw', [1, 1]],
  ['ULAW', [1, 1]],
  ['alaw', [1, 1]],
  ['ALAW', [1, 1]],
  ['ima4', [34, 64]],
])

interface Format {
  readonly rate: number
  readonly blockBytes: number
  readonly samples: number
}

/** Reads a file whose `FORM` stands at `from`. */
export function* readAiffSound(from: number, to: number): Reader<number> {
  const form = yield { at: from, count: FORM_BYTES }
  const isCompressed = form.toString('latin1', 8, 12) === 'AIFC'
  let format: Format | undefined
  let bytes: number | undefined
  let at = from + FORM_BYTES
  for (let count = 0; count < CHUNKS_MAX && at + CHUNK_HEAD_BYTES <= to; count += 1) {
    const head = yield { at, count: CHUNK_HEAD_BYTES }
    const id = head.toString('latin1', 0, 4)
    const size = head.readUInt32BE(4)
    const start = at + CHUNK_HEAD_BYTES
    if (id === 'COMM' && !format) format = yield* readFormat(start, isCompressed)
    if (id === 'SSND' && bytes === undefined) {
      bytes = Math.max(0, Math.min(start + size, to) - start - SOUND_HEAD_BYTES)
    }
    // Chunks begin at even offsets.
    at = start + size + (size % 2)
  }
  if (!format || bytes === undefined) throw new UnreadableSound('is an AIFF file without sound')
  const { blockBytes, samples, rate } = format
  return (Math.floor(bytes / blockBytes) * samples) / rate
}

function* readFormat(at: number, isCompressed: boolean): Reader<Format> {
  const common = yield { at, count: COMMON_BYTES + TYPE_BYTES }
  if (common.length < COMMON_BYTES) throw new UnreadableSound('is a damaged AIFF file')
  const channels = common.readUInt16BE(0)
  const bits = common.readUInt16BE(6)
  const rate =
    Number(common.readBigUInt64BE(10)) * 2 ** ((common.readUInt16BE(8) & 0x7fff) - EXPONENT_BIAS)
  const type = isCompressed ? common.toString('latin1', 18, 22) : 'NONE'
  const [bytes = Math.ceil(bits / 8), samples = 0] = TYPES.get(type) ?? []
  const blockBytes = bytes * channels
  if (samples === 0)
    throw new UnreadableSound(`is an AIFF file of a codec that is not read (${type})`)
  if (blockBytes === 0 || !(rate >= 1)) throw new UnreadableSound('is a damaged AIFF file')
  return { rate, blockBytes, samples }
}
