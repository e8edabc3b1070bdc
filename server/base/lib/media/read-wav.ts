/**
 * Reads the chunks of a WAV file: its format, and the position and length of its samples. In the
 * 64-bit form (RF64, BW64) a first chunk `ds64` has the length of the samples.
 */
import type { Reader } from './reader.ts'
import { sniffType } from './sniff-type.ts'
import { FORMAT_BYTES_MAX, FORMAT_BYTES_MIN, readWavFormat, type WavFormat } from './wav-format.ts'

const RIFF_BYTES = 12
const CHUNK_HEAD_BYTES = 8
/** Sizes left by a writer that could not seek back: 0, just under 2^31, 2^32 - 1. */
const UNKNOWN_SIZE_LEAST = 0x7fff_f000
/** The size that stands for the one in `ds64`. */
const LONG_SIZE = 0xffff_ffff
/** The sizes of the file and of its samples, of 64 bits each. */
const LONG_SIZES_BYTES = 16

/** The file is not a WAV file, or is damaged. */
export class WavFault extends Error {
  /** The first bytes of a file that is not a WAV file; undefined for a damaged WAV file. */
  readonly head: Buffer | undefined

  constructor(found: string, head?: Buffer) {
    super(found)
    this.head = head
  }
}

export interface FoundFormat {
  readonly format: WavFormat
  /** The offset of the next chunk. */
  readonly next: number
  /** Bytes of samples as stated in the 64-bit form. */
  readonly longSize: number | undefined
}

export interface FoundSamples {
  /** The offset of the first sample. */
  readonly start: number
  /** Bytes of samples as stated in the header; undefined if the writer did not know. */
  readonly declared: number | undefined
}

interface Chunk {
  readonly id: string
  readonly start: number
  readonly size: number
  readonly next: number
}

/** Reads from the beginning to the format chunk. Throws WavFault. */
export function* findWavFormat(): Reader<FoundFormat> {
  const head = yield { at: 0, count: RIFF_BYTES }
  if (sniffType(head) !== 'audio/wav') throw new WavFault('no wav file', head)
  let longSize: number | undefined
  for (let at = RIFF_BYTES; ; ) {
    const chunk = yield* readChunk(at)
    if (chunk.id === 'data') throw new WavFault('a wav file without a format before its data')
    if (chunk.id === 'fmt ') return { ...(yield* readFormatChunk(chunk)), longSize }
    if (chunk.id === 'ds64') longSize = yield* readLongSize(chunk)
    at = chunk.next
  }
}

/** Reads from the end of the format chunk to the samples. Throws WavFault. */
export function* findWavSamples({ next: from, longSize }: FoundFormat): Reader<FoundSamples> {
  for (let at = from; ; ) {
    const { id, start, size, next } = yield* readChunk(at)
    if (id === 'fmt ') throw new WavFault('a wav file with two formats')
    if (id === 'data') {
      const known = size > 0 && size < UNKNOWN_SIZE_LEAST ? size : undefined
      return { start, declared: size === LONG_SIZE ? longSize : known }
    }
    at = next
  }
}

export interface SampleChunks {
  readonly format: WavFormat
  readonly chunks: readonly { readonly start: number; readonly end: number }[]
}

/**
 * Finds every chunk of samples of a file from `from` to `to`, as decoders play them. Throws
 * WavFault, also for more than `chunksMax` chunks.
 */
export function* findSampleChunks(
  from: number,
  to: number,
  chunksMax: number,
): Reader<SampleChunks> {
  const head = yield { at: from, count: RIFF_BYTES }
  const isLong = head.toString('latin1', 0, 4) !== 'RIFF'
  const chunks: { start: number; end: number }[] = []
  let format: WavFormat | undefined
  let longSize: number | undefined
  let at = from + RIFF_BYTES
  for (let count = 0; at + CHUNK_HEAD_BYTES <= to; count += 1) {
    if (count === chunksMax) throw new WavFault('a wav file of too many chunks')
    const chunk = yield* readChunk(at)
    at = chunk.next
    if (chunk.id === 'ds64') longSize = yield* readLongSize(chunk)
    if (chunk.id === 'fmt ') {
      if (format) throw new WavFault('a wav file with two formats')
      format = (yield* readFormatChunk(chunk)).format
    }
    if (chunk.id !== 'data') continue
    if (!format) throw new WavFault('a wav file without a format before its data')
    const size = isLong && chunk.size === LONG_SIZE && longSize ? longSize : chunk.size
    const isOpen = size === 0 || size === LONG_SIZE
    const end = isOpen ? to : Math.min(chunk.start + size, to)
    chunks.push({ start: chunk.start, end })
    at = end + ((end - chunk.start) % 2)
  }
  if (!format) throw new WavFault('a wav file without a format')
  return { format, chunks }
}

/** Returns the length of the samples; undefined if the writer did not know it. */
function* readLongSize({ start, size }: Chunk): Reader<number | undefined> {
  if (size < LONG_SIZES_BYTES) return undefined
  const sizes = yield { at: start, count: LONG_SIZES_BYTES }
  if (sizes.length < LONG_SIZES_BYTES) return undefined
  const samples = Number(sizes.readBigUInt64LE(8))
  return samples > 0 && Number.isSafeInteger(samples) ? samples : undefined
}

/** Returns seconds for a file of `bytes`, or undefined if no length is certain. */
export function* readWavSeconds(bytes: number): Reader<number | undefined> {
  try {
    const found = yield* findWavFormat()
    const { format } = found
    const { start, declared = Infinity } = yield* findWavSamples(found)
    const { sampleBytes, rate } = format
    return sampleBytes && Math.min(declared, bytes - start) / sampleBytes / rate
  } catch (error) {
    if (error instanceof WavFault) return undefined
    throw error
  }
}

function* readChunk(at: number): Reader<Chunk> {
  const head = yield { at, count: CHUNK_HEAD_BYTES }
  if (head.length < CHUNK_HEAD_BYTES) throw new WavFault('a wav file that ends before its audio')
  const size = head.readUInt32LE(4)
  const start = at + CHUNK_HEAD_BYTES
  // Chunks begin at even offsets.
  return { id: head.toString('latin1', 0, 4), start, size, next: start + size + (size % 2) }
}

function* readFormatChunk({ start, size, next }: Chunk): Reader<Omit<FoundFormat, 'longSize'>> {
  if (size < FORMAT_BYTES_MIN) throw new WavFault('a wav file with a damaged format chunk')
  const count = Math.min(size, FORMAT_BYTES_MAX)
  const content = yield { at: start, count }
  if (content.length < count) throw new WavFault('a wav file that ends before its audio')
  return { format: readWavFormat(content), next }
}
