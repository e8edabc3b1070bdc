/** Reads the format chunk of a WAV file. */

export interface WavFormat {
  /** The codec's tag; in the extensible form the inner one. */
  readonly tag: number
  readonly isPcm: boolean
  readonly channels: number
  /** Samples per second. */
  readonly rate: number
  /** Bits per sample; in the extensible form the valid ones. */
  readonly bits: number
  /** Bytes of a block of compressed sound, as stated. */
  readonly blockBytes: number
  /**
   * Bytes of a sample of all channels; undefined for compressed sound, and where a count is 0.
   * Decoders go by it, and ignore the bytes per second in the header.
   */
  readonly sampleBytes: number | undefined
}

const PCM = 1
/** Codecs with a fixed number of bits per sample: integer, float, A-law and µ-law. */
const PLAIN: ReadonlySet<number> = new Set([PCM, 3, 6, 7])
const EXTENSIBLE = 0xfffe
export const FORMAT_BYTES_MIN = 16
/** Bytes of the extensible form; further ones are not needed. */
export const FORMAT_BYTES_MAX = 40

const CODECS: ReadonlyMap<number, string> = new Map([
  [PCM, 'PCM'],
  [2, 'ADPCM'],
  [3, 'float'],
  [6, 'A-law'],
  [7, 'µ-law'],
  [0x11, 'ADPCM'],
  [0x31, 'GSM'],
  [0x55, 'MP3'],
])

/** `chunk` must have at least 16 bytes. */
export function readWavFormat(chunk: Buffer): WavFormat {
  const outer = chunk.readUInt16LE(0)
  const isExtensible = outer === EXTENSIBLE && chunk.length >= FORMAT_BYTES_MAX
  const tag = isExtensible ? chunk.readUInt16LE(24) : outer
  const container = chunk.readUInt16LE(14)
  const valid = isExtensible ? chunk.readUInt16LE(18) : 0
  // 16 valid bits in a container of 24 are not samples of 16 bits.
  const bits = valid === 0 || container !== 16 ? container : valid
  const channels = chunk.readUInt16LE(2)
  const rate = chunk.readUInt32LE(4)
  const whole = channels * Math.ceil(container / 8)
  const sampleBytes = PLAIN.has(tag) && rate > 0 && whole > 0 ? whole : undefined
  const blockBytes = chunk.readUInt16LE(12)
  return { tag, isPcm: tag === PCM, channels, rate, bits, blockBytes, sampleBytes }
}

/** Describes a format, for example `44.1 kHz, stereo, 24-bit PCM`. */
export function describeWavFormat({ tag, channels, rate, bits }: WavFormat): string {
  const count = channels === 1 ? 'mono' : channels === 2 ? 'stereo' : `${channels} channels`
  const codec = CODECS.get(tag) ?? `codec 0x${tag.toString(16)}`
  return `${rate / 1000} kHz, ${count}, ${bits}-bit ${codec}`
}
