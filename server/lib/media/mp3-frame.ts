/** Parses the header of an MPEG audio frame, and the tags before the first frame. */

export interface Mp3Frame {
  /** Of the whole frame. */
  readonly bytes: number
  readonly kilobits: number
  /** Samples per second. */
  readonly rate: number
  readonly samples: number
  /** Offset within the frame at which the count of all frames may be. */
  readonly countAt: number
}

export const FRAME_HEADER_BYTES = 4
const SYNC = 0x7ff
const LAYER_3 = 1
/** Kilobits per second by version; indexes 0 and 15 are not rates. */
const KILOBITS_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0]
const KILOBITS_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
const RATES = [44_100, 48_000, 32_000]
/** Divisors of the sample rate by version; one is reserved. */
const DIVISORS = [4, undefined, 2, 1]
const MONO = 3

/** Parses a 32-bit header; returns undefined if it does not begin a layer III frame. */
export function readMp3Frame(header: number): Mp3Frame | undefined {
  const divisor = DIVISORS[(header >>> 19) & 3]
  const base = RATES[(header >>> 10) & 3]
  const isFirst = divisor === 1
  const kilobits = (isFirst ? KILOBITS_1 : KILOBITS_2)[(header >>> 12) & 15]
  const isFrame = header >>> 21 === SYNC && ((header >>> 17) & 3) === LAYER_3
  if (!isFrame || !divisor || !base || !kilobits) return undefined
  const rate = base / divisor
  const samples = isFirst ? 1152 : 576
  const padding = (header >>> 9) & 1
  const isMono = ((header >>> 6) & 3) === MONO
  const sideBytes = isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17
  const bytes = Math.floor((samples * kilobits * 125) / rate) + padding
  return { bytes, kilobits, rate, samples, countAt: FRAME_HEADER_BYTES + sideBytes }
}

export const TAG_HEAD_BYTES = 10
const HAS_FOOTER = 0x10

/** Returns the length of an ID3v2 tag with its header and footer, or undefined without one. */
export function readTagBytes(head: Uint8Array): number | undefined {
  const [first, second, third] = head
  const isTag = first === 0x49 && second === 0x44 && third === 0x33
  if (!isTag || head.length < TAG_HEAD_BYTES) return undefined
  // Each byte of the length holds seven bits.
  const length = head
    .subarray(6, TAG_HEAD_BYTES)
    .reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0)
  const footerBytes = ((head[5] ?? 0) & HAS_FOOTER) !== 0 ? TAG_HEAD_BYTES : 0
  return TAG_HEAD_BYTES + length + footerBytes
}
