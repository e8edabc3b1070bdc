/**
 * Checks a WAV file as it arrives and finds its samples, keeping no more than one format chunk.
 * Accepts 16 kHz, mono, 16-bit PCM alone, the input of interpretation.
 */
import { InvalidRequest } from '../invalid-request.ts'
import {
  describeContainer,
  describeWavFormat,
  readWavFormat,
  type WavFormat,
} from './wav-format.ts'

const SAMPLES_PER_SECOND = 16_000
export const BYTES_PER_SECOND = SAMPLES_PER_SECOND * 2

const NEEDED = 'needs wav audio of 16 kHz, mono, 16-bit PCM'
const RIFF_BYTES = 12
const CHUNK_HEAD_BYTES = 8
/** Bytes of the extensible form; what a longer one adds is not needed. */
const FORMAT_BYTES_MAX = 40
/** Sizes left by a writer that could not seek back: 0, just under 2^31, 2^32 - 1. */
const UNKNOWN_SIZE_LEAST = 0x7fff_f000

/** The position and the length of the samples, in bytes. */
export interface Samples {
  readonly start: number
  readonly bytes: number
}

export interface WavReader {
  /**
   * Takes the next bytes. Throws InvalidRequest as soon as the file is known to be of another kind.
   */
  push(chunk: Uint8Array): void
  /** Ends the file. Throws InvalidRequest where it is cut off or has no samples. */
  end(): Samples
}

/** The part being read: the first bytes, a chunk's head, a format chunk, or skipped bytes. */
type Place = 'riff' | 'head' | 'format' | 'skip' | 'samples'

class Walk implements WavReader {
  private readonly param: string
  private readonly secondsMax: number
  private place: Place = 'riff'
  private wanted = RIFF_BYTES
  private gathered: Buffer = Buffer.alloc(0)
  /** Bytes read so far. */
  private position = 0
  /** Bytes of the current chunk after the gathered part. */
  private remainder = 0
  private hasFormat = false
  private samples: { readonly start: number; readonly declared: number } | undefined

  constructor(param: string, secondsMax: number) {
    this.param = param
    this.secondsMax = secondsMax
  }

  push(chunk: Uint8Array): void {
    let rest = chunk
    while (rest.length > 0) {
      if (this.place === 'samples') {
        this.position += rest.length
        return
      }
      const taken = Math.min(this.wanted, rest.length)
      if (this.place !== 'skip') this.gathered = join(this.gathered, rest.subarray(0, taken))
      this.position += taken
      this.wanted -= taken
      rest = rest.subarray(taken)
      if (this.wanted === 0) this.advance()
    }
  }

  end(): Samples {
    if (!this.samples) throw this.refuse(this.describeBeginning())
    const { start, declared } = this.samples
    const there = this.position - start
    const isKnown = declared > 0 && declared < UNKNOWN_SIZE_LEAST
    if (isKnown && declared > there) {
      const found = `is cut off: ${there} of ${declared} bytes of audio are there`
      throw new InvalidRequest(this.param, found)
    }
    const bytes = isKnown ? declared : there
    this.checkLength(bytes)
    if (bytes < 2) throw new InvalidRequest(this.param, 'has no audio in it')
    return { start, bytes: bytes - (bytes % 2) }
  }

  /** Reads one gathered part. */
  private advance(): void {
    const { gathered } = this
    this.gathered = Buffer.alloc(0)
    switch (this.place) {
      case 'riff':
        if (!isRiffWave(gathered)) throw this.refuse(describeContainer(gathered))
        this.expectHead()
        return
      case 'head':
        this.enterChunk(gathered.toString('latin1', 0, 4), gathered.readUInt32LE(4))
        return
      case 'format':
        this.check(readWavFormat(gathered))
        this.passOver(this.remainder)
        return
      default:
        this.expectHead()
    }
  }

  private enterChunk(id: string, size: number): void {
    if (id === 'data') {
      if (!this.hasFormat) throw this.refuse('a wav file without a format before its data')
      if (size < UNKNOWN_SIZE_LEAST) this.checkLength(size)
      this.samples = { start: this.position, declared: size }
      this.place = 'samples'
      return
    }
    // Chunks begin at even offsets.
    const padded = size + (size % 2)
    if (id !== 'fmt ') {
      this.passOver(padded)
      return
    }
    if (size < 16) throw this.refuse('a wav file with a damaged format chunk')
    this.place = 'format'
    this.wanted = Math.min(size, FORMAT_BYTES_MAX)
    this.remainder = padded - this.wanted
  }

  private check(format: WavFormat): void {
    const { channels, rate, bits, isPcm } = format
    if (!isPcm || channels !== 1 || rate !== SAMPLES_PER_SECOND || bits !== 16) {
      throw this.refuse(describeWavFormat(format))
    }
    this.hasFormat = true
  }

  private checkLength(bytes: number): void {
    const seconds = bytes / BYTES_PER_SECOND
    if (seconds <= this.secondsMax) return
    const found = `is ${Math.ceil(seconds)} s long, more than ${this.secondsMax} s`
    throw new InvalidRequest(this.param, found)
  }

  private passOver(bytes: number): void {
    if (bytes === 0) {
      this.expectHead()
      return
    }
    this.place = 'skip'
    this.wanted = bytes
  }

  private expectHead(): void {
    this.place = 'head'
    this.wanted = CHUNK_HEAD_BYTES
  }

  private describeBeginning(): string {
    if (this.position === 0) return 'an empty file'
    if (this.place === 'riff') return describeContainer(this.gathered)
    return 'a wav file that ends before its audio'
  }

  private refuse(found: string): InvalidRequest {
    return new InvalidRequest(this.param, `${NEEDED}; found ${found}`)
  }
}

/** Creates a reader. Errors name the field `param`; audio longer than `secondsMax` is refused. */
export function createWavReader(param: string, secondsMax: number): WavReader {
  return new Walk(param, secondsMax)
}

function join(gathered: Buffer, part: Uint8Array): Buffer {
  return gathered.length === 0 ? Buffer.from(part) : Buffer.concat([gathered, part])
}

function isRiffWave(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WAVE'
}
