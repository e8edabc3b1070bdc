// Hides the spoken words in the audio, so that simulated recognition can find them: in the lowest
// bits of samples, in the stuffing of MP3 frames, in the padding of Opus packets. Players ignore
// them. A change of container keeps them; lossy encoding does not.
import type { Syllable } from './timeline.ts'

const MAGIC = Buffer.from([0xd7, 0x57, 0x4f, 0x52])
const MOST_BYTES = 100
const MAGIC_BITS = MAGIC.readUInt32BE()

/** Returns the hidden form of a word: a magic number, its length, its letters and their sum. */
export function markOf({ word }: Syllable): Buffer {
  const letters = fitting(word)
  const sum = letters.reduce((total, byte) => (total + byte) & 0xff, letters.length)
  return Buffer.concat([MAGIC, Buffer.from([letters.length]), letters, Buffer.from([sum])])
}

/** Cuts between two characters. */
function fitting(word: string): Buffer {
  let fitted = ''
  for (const character of word) {
    if (Buffer.byteLength(fitted + character) > MOST_BYTES) break
    fitted += character
  }
  return Buffer.from(fitted)
}

/** Returns the bit in the sample at this position of a syllable. */
export function bitOf(mark: Buffer, at: number): number {
  const byte = mark[at >> 3]
  return byte === undefined ? 0 : (byte >> (7 - (at & 7))) & 1
}

export interface FoundWord {
  word: string
  /** The position in the audio: a sample of PCM, a byte of anything else. */
  at: number
}

/** Finds words in 16-bit samples, passed in pieces of any size. */
export class SampleListener {
  private received = 0
  private last = 0
  private odd: Buffer = Buffer.alloc(0)
  private bits: number[] = []
  private collecting = false
  private from = 0

  /** The number of samples received. */
  get samples(): number {
    return this.received
  }

  push(piece: Buffer): FoundWord[] {
    const bytes = this.odd.length > 0 ? Buffer.concat([this.odd, piece]) : piece
    const found: FoundWord[] = []
    const whole = bytes.length - (bytes.length % 2)
    for (let at = 0; at < whole; at += 2) {
      const word = this.bit((bytes[at] ?? 0) & 1)
      if (word !== undefined) found.push({ word, at: this.from })
      this.received += 1
    }
    this.odd = Buffer.from(bytes.subarray(whole))
    return found
  }

  private bit(bit: number): string | undefined {
    if (!this.collecting) {
      this.last = ((this.last << 1) | bit) >>> 0
      if (this.last !== MAGIC_BITS) return undefined
      this.collecting = true
      this.bits = []
      this.from = this.received - 31
      return undefined
    }
    this.bits.push(bit)
    const length = this.byte(0)
    if (this.bits.length < 8) return undefined
    if (length > MOST_BYTES) this.collecting = false
    if (this.bits.length < (length + 2) * 8) return undefined
    this.collecting = false
    this.last = 0
    const body = Buffer.from(Array.from({ length: length + 2 }, (_, index) => this.byte(index)))
    return wordIn(body)
  }

  private byte(index: number): number {
    let value = 0
    for (let bit = 0; bit < 8; bit += 1) value = (value << 1) | (this.bits[index * 8 + bit] ?? 0)
    return value
  }
}

/** Returns the words in the bytes of an MP3 or Ogg file. */
export function wordsInBytes(bytes: Buffer): FoundWord[] {
  const found: FoundWord[] = []
  for (let at = bytes.indexOf(MAGIC); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
    const word = wordIn(bytes.subarray(at + MAGIC.length))
    if (word !== undefined) found.push({ word, at })
  }
  return found
}

function wordIn(body: Buffer): string | undefined {
  const length = body[0] ?? 0
  if (length > MOST_BYTES || body.length < length + 2) return undefined
  const letters = body.subarray(1, 1 + length)
  const sum = letters.reduce((total, byte) => (total + byte) & 0xff, length)
  return sum === body[1 + length] ? letters.toString() : undefined
}

/** Joins words; those of alphabetic scripts get a space between them. */
export function joinWords(words: readonly string[]): string {
  return words.reduce((line, word) => {
    return line + (/[\p{Script=Latin}\p{N}]\p{P}*$/u.test(line) ? ' ' : '') + word
  }, '')
}
