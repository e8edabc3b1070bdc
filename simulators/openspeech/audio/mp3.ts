// Writes MPEG Layer III without an encoder: a tone needs only a few spectral lines, so a granule is
// a header, its side information and a dozen bits. Any sample rate; every frame is independent (the
// bit reservoir is not used); stuffing fills the bit rate.
import type { Syllable } from './timeline.ts'
import { markOf } from './words.ts'

const SAMPLES_IN_GRANULE = 576

/** Returns the length of one frame, which is the unit of the timeline. */
export function mp3UnitSeconds(sampleRate: number): number {
  return (SAMPLES_IN_GRANULE * (sampleRate >= 32000 ? 2 : 1)) / sampleRate
}

interface Version {
  bits: number
  granules: number
  rates: number[]
  /** kbit/s by index. */
  bitRates: number[]
  sideBytes: number
}

const LONG = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160]
const SHORT = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const VERSIONS: Version[] = [
  { bits: 3, granules: 2, rates: [44100, 48000, 32000], bitRates: LONG, sideBytes: 17 },
  { bits: 2, granules: 1, rates: [22050, 24000, 16000], bitRates: SHORT, sideBytes: 9 },
  { bits: 0, granules: 1, rates: [11025, 12000, 8000], bitRates: SHORT, sideBytes: 9 },
]

const LOUD = 196
const SOFT = 188

class Bits {
  private out: number[] = []
  put(value: number, width: number): void {
    for (let bit = width - 1; bit >= 0; bit -= 1) this.out.push((value >> bit) & 1)
  }
  get length(): number {
    return this.out.length
  }
  append(other: Bits): void {
    for (const bit of other.out) this.out.push(bit)
  }
  bytes(): Buffer {
    const buffer = Buffer.alloc(Math.ceil(this.out.length / 8))
    this.out.forEach((bit, index) => {
      buffer[index >> 3] = (buffer[index >> 3] ?? 0) | (bit << (7 - (index & 7)))
    })
    return buffer
  }
}

class Mp3Writer {
  private readonly version: Version
  private readonly rateIndex: number
  private readonly bitRateIndex: number
  private readonly sampleRate: number
  /** Few different granules exist, so their frames are cached. */
  private readonly frameCache = new Map<string, Buffer>()

  constructor(sampleRate: number, bitRate: number) {
    const version = VERSIONS.find((one) => one.rates.includes(sampleRate))
    if (!version) throw new Error(`no MPEG version has a sample rate of ${sampleRate}`)
    this.version = version
    this.sampleRate = sampleRate
    this.rateIndex = version.rates.indexOf(sampleRate)
    const bitRateKbps = bitRate / 1000
    const fitting = version.bitRates.findLastIndex((rate) => rate <= bitRateKbps)
    this.bitRateIndex = Math.max(5, fitting)
  }

  /** Returns a frame for each unit; `first` continues the phase from call to call. */
  frames(units: (Syllable | undefined)[], first: number): Buffer {
    const each = this.version.granules
    const frames = units.map((syllable, at) => {
      const start = (first + at) * each
      const sounds = Array.from({ length: each }, (_, granule) =>
        soundAt(syllable, first + at, start + granule),
      )
      const frame = this.frameOf(sounds)
      return syllable?.start === first + at ? marked(frame, markOf(syllable)) : frame
    })
    return Buffer.concat(frames)
  }

  private frameOf(sounds: (Sound | undefined)[]): Buffer {
    const key = sounds.map((sound) => (sound ? Object.values(sound).join('.') : '-')).join(' ')
    let frame = this.frameCache.get(key)
    if (!frame) {
      const rate = this.sampleRate
      frame = this.frame(sounds.map((sound) => (sound ? toneGranule(sound, rate) : SILENT)))
      this.frameCache.set(key, frame)
    }
    return frame
  }

  private frame(granules: Granule[]): Buffer {
    const { version } = this
    const slots = version.granules === 2 ? 144 : 72
    const rate = (version.bitRates[this.bitRateIndex] ?? 64) * 1000
    const frame = Buffer.alloc(Math.floor((slots * rate) / this.sampleRate))
    const head = new Bits()
    head.put(0x7ff, 11)
    head.put(version.bits, 2)
    head.put(0b01_1, 3) // Layer III, no checksum
    head.put(this.bitRateIndex, 4)
    head.put(this.rateIndex, 2)
    head.put(0b00_11_00_00, 8) // no padding, private; mono; no extension, copyright
    head.put(0b00, 2)
    head.bytes().copy(frame, 0)
    this.side(granules).bytes().copy(frame, 4)
    const main = new Bits()
    for (const granule of granules) main.append(granule.main)
    main.bytes().copy(frame, 4 + version.sideBytes)
    return frame
  }

  private side(granules: Granule[]): Bits {
    const side = new Bits()
    const two = this.version.granules === 2
    // main_data_begin, private bits and, in MPEG-1, the sharing of scale factors: all zero.
    side.put(0, two ? 18 : 9)
    for (const granule of granules) {
      side.put(granule.main.length, 12)
      side.put(granule.pairs, 9)
      side.put(granule.gain, 8)
      side.put(0, two ? 4 : 9) // scale factors take no bits
      side.put(0, 1) // long windows
      for (let region = 0; region < 3; region += 1) side.put(granule.pairs > 0 ? 1 : 0, 5)
      side.put(7, 4)
      side.put(7, 3)
      side.put(0, two ? 3 : 2)
    }
    return side
  }
}

/** Writes a mark into the stuffing at the end of a frame, which decoders skip. */
function marked(frame: Buffer, mark: Buffer): Buffer {
  const copy = Buffer.from(frame)
  if (mark.length <= frame.length / 2) mark.copy(copy, frame.length - mark.length)
  return copy
}

interface Granule {
  main: Bits
  pairs: number
  gain: number
}

const SILENT: Granule = { main: new Bits(), pairs: 0, gain: 0 }

/** Signs that keep a single spectral line a steady tone from granule to granule. */
const EVEN = [1, 1, -1, -1]
const ODD = [1, -1, -1, 1]

interface Sound {
  pitch: number
  phase: number
  gain: number
}

function soundAt(syllable: Syllable | undefined, unit: number, granule: number): Sound | undefined {
  if (!syllable) return undefined
  const edge = unit === syllable.start || unit === syllable.end - 1
  return { pitch: syllable.pitch, phase: granule % 4, gain: edge ? SOFT : LOUD }
}

function toneGranule({ pitch, phase, gain }: Sound, rate: number): Granule {
  const lineHertz = rate / 2 / SAMPLES_IN_GRANULE
  const base = 330 * 2 ** (pitch / 12)
  const lines = [1, 2, 3].map((harmonic) => Math.round((base * harmonic) / lineHertz))
  const signs = new Map(lines.map((line) => [line, (line % 2 ? ODD : EVEN)[phase] ?? 1]))
  const pairs = Math.floor(Math.max(...lines) / 2) + 1
  const main = new Bits()
  for (let pair = 0; pair < pairs; pair += 1) {
    putPair(main, signs.get(pair * 2) ?? 0, signs.get(pair * 2 + 1) ?? 0)
  }
  return { main, pairs, gain }
}

/** Huffman table 1 of the standard: values of -1, 0 and 1, followed by the signs. */
function putPair(main: Bits, left: number, right: number): void {
  if (left === 0 && right === 0) main.put(0b1, 1)
  else if (left === 0) main.put(0b001, 3)
  else if (right === 0) main.put(0b01, 2)
  else main.put(0b000, 3)
  for (const value of [left, right]) if (value !== 0) main.put(value < 0 ? 1 : 0, 1)
}

const writers = new Map<string, Mp3Writer>()

/** Writers keep no state between calls except cached frames. */
export function mp3Writer(sampleRate: number, bitRate: number): Mp3Writer {
  const key = `${sampleRate} ${bitRate}`
  let writer = writers.get(key)
  if (!writer) {
    writer = new Mp3Writer(sampleRate, bitRate)
    writers.set(key, writer)
  }
  return writer
}
