/** Reads the format chunk of a WAV file, and describes a file of another kind in words. */

export interface WavFormat {
  /** The codec's tag, in the extensible form the inner one. */
  readonly tag: number
  readonly isPcm: boolean
  readonly channels: number
  /** Samples in a second. */
  readonly rate: number
  /** Bits of a sample, in the extensible form the valid ones. */
  readonly bits: number
}

const PCM = 1
const EXTENSIBLE = 0xfffe
const EXTENSIBLE_BYTES = 40

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

/** Reads at least 16 bytes. */
export function readWavFormat(chunk: Buffer): WavFormat {
  const outer = chunk.readUInt16LE(0)
  const isExtensible = outer === EXTENSIBLE && chunk.length >= EXTENSIBLE_BYTES
  const tag = isExtensible ? chunk.readUInt16LE(24) : outer
  const container = chunk.readUInt16LE(14)
  const valid = isExtensible ? chunk.readUInt16LE(18) : 0
  // 16 valid bits in a container of 24 are not samples of 16 bits.
  const bits = valid === 0 || container !== 16 ? container : valid
  const channels = chunk.readUInt16LE(2)
  return { tag, isPcm: tag === PCM, channels, rate: chunk.readUInt32LE(4), bits }
}

/** For example `44.1 kHz, stereo, 24-bit PCM`. */
export function describeWavFormat({ tag, channels, rate, bits }: WavFormat): string {
  const count = channels === 1 ? 'mono' : channels === 2 ? 'stereo' : `${channels} channels`
  const codec = CODECS.get(tag) ?? `codec 0x${tag.toString(16)}`
  return `${rate / 1000} kHz, ${count}, ${bits}-bit ${codec}`
}

const CONTAINERS: readonly (readonly [RegExp, string])[] = [
  [/^RIFX/, 'a big-endian wav file'],
  [/^RF64/, 'a 64-bit wav file'],
  [/^RIFF....AVI /s, 'an AVI file'],
  [/^\xff[\xf0\xf1\xf8\xf9]/, 'an AAC file'],
  [/^(ID3|\xff[\xe2-\xff])/, 'an MP3 file'],
  [/^OggS/, 'an Ogg file'],
  [/^fLaC/, 'a FLAC file'],
  [/^....ftyp/s, 'an MP4 file'],
  [/^.E\xdf\xa3/s, 'a WebM file'],
  [/^FORM/, 'an AIFF file'],
  [/^#!AMR/, 'an AMR file'],
]

/** Describes a file that is not a WAV by its first bytes. */
export function describeContainer(head: Buffer): string {
  const text = head.toString('latin1')
  const [, name] = CONTAINERS.find(([pattern]) => pattern.test(text)) ?? []
  return name ?? 'no wav file'
}
