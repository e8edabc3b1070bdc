/** WAV files for tests: right ones, and every kind of wrong one. */

export interface WavOptions {
  readonly rate?: number
  readonly channels?: number
  readonly bits?: number
  /** The codec's tag. */
  readonly tag?: number
  /** The extensible form, with this codec inside and so many bits that count. */
  readonly extensible?: { readonly tag: number; readonly validBits: number }
  /** What the data chunk says of its size instead of the truth. */
  readonly declared?: number
  /** The 64-bit form, and what it says of the size of the data. */
  readonly long?: { readonly id: 'RF64' | 'BW64'; readonly declared: number | bigint }
  /** Chunks before the format, between it and the data, and after the data. */
  readonly first?: Buffer
  readonly middle?: Buffer
  readonly last?: Buffer
}

/** A chunk with its padding. */
export function wavChunk(id: string, content: Buffer, declared = content.length): Buffer {
  const head = Buffer.alloc(8)
  head.write(id, 'latin1')
  head.writeUInt32LE(declared, 4)
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)])
}

function makeFormat(options: WavOptions = {}): Buffer {
  const { rate = 16_000, channels = 1, bits = 16, tag = 1, extensible } = options
  const format = Buffer.alloc(extensible ? 40 : 16)
  format.writeUInt16LE(extensible ? 0xfffe : tag, 0)
  format.writeUInt16LE(channels, 2)
  format.writeUInt32LE(rate, 4)
  format.writeUInt32LE((rate * channels * bits) / 8, 8)
  format.writeUInt16LE((channels * bits) / 8, 12)
  format.writeUInt16LE(bits, 14)
  if (extensible) {
    format.writeUInt16LE(22, 16)
    format.writeUInt16LE(extensible.validBits, 18)
    format.writeUInt16LE(extensible.tag, 24)
    Buffer.from('000000001000800000aa00389b71', 'hex').copy(format, 26)
  }
  return format
}

/** Samples are given, or so many milliseconds of a rising tone. */
export function makeWav(samples: Buffer | number, options: WavOptions = {}): Buffer {
  const content = typeof samples === 'number' ? makeSamples(samples) : samples
  const { long, first, middle, last } = options
  const { declared = long ? 0xffff_ffff : content.length } = options
  const none = Buffer.alloc(0)
  const body = Buffer.concat([
    Buffer.from('WAVE'),
    long ? wavChunk('ds64', makeLongSizes(long.declared)) : none,
    first ?? none,
    wavChunk('fmt ', makeFormat(options)),
    middle ?? none,
    wavChunk('data', content, declared),
    last ?? none,
  ])
  return long ? wavChunk(long.id, body, 0xffff_ffff) : wavChunk('RIFF', body)
}

/** The sizes of the file and the data, the number of samples, and an empty table. */
function makeLongSizes(declared: number | bigint): Buffer {
  const sizes = Buffer.alloc(28)
  sizes.writeBigUInt64LE(BigInt(declared), 8)
  return sizes
}

export function makeSamples(milliseconds: number): Buffer {
  const samples = Buffer.alloc(milliseconds * 32)
  for (let at = 0; at < samples.length; at += 2) samples.writeInt16LE((at * 7) % 30_000, at)
  return samples
}
