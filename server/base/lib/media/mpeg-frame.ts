/** Parses the header of an MPEG audio frame, of layers I to III, and the tags before the first. */

export interface MpegFrame {
  /** Of the whole frame. */
  readonly bytes: number
  readonly kilobits: number
  /** Samples per second. */
  readonly rate: number
  readonly samples: number
  /** The bits of version, layer and rate, which all frames of a file share. */
  readonly kind: number
  readonly layer: 1 | 2 | 3
  /** Offset within the frame at which the count of all frames may be; of layer III. */
  readonly countAt: number
}

export const FRAME_HEADER_BYTES = 4
const SYNC = 0x7ff
const KIND = 0xfffe0c00
const RATES = [44_100, 48_000, 32_000]
/** Divisors of the sample rate by version; one is reserved. */
const DIVISORS = [4, undefined, 2, 1]
const MONO = 3
const SLOT_BYTES = 4

/** Kilobits per second; indexes 0 and 15 are not rates. The later versions share one table. */
const KILOBITS = {
  first: {
    1: [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 0],
    2: [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 0],
    3: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0],
  },
  later: {
    1: [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256, 0],
    2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0],
    3: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0],
  },
} as const
const SAMPLES = { 1: 384, 2: 1152, 3: 1152 } as const

/** Parses a 32-bit header; returns undefined if it does not begin a frame. */
export function readMpegFrame(header: number): MpegFrame | undefined {
  const divisor = DIVISORS[(header >>> 19) & 3]
  const base = RATES[(header >>> 10) & 3]
  const layer = readLayer(header)
  if (header >>> 21 !== SYNC || !layer || !divisor || !base) return undefined
  const isFirst = divisor === 1
  const kilobits = KILOBITS[isFirst ? 'first' : 'later'][layer][(header >>> 12) & 15]
  if (!kilobits) return undefined
  const rate = base / divisor
  const samples = layer === 3 && !isFirst ? SAMPLES[3] / 2 : SAMPLES[layer]
  const padding = (header >>> 9) & 1
  const isMono = ((header >>> 6) & 3) === MONO
  const sideBytes = isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17
  return {
    bytes: countBytes(layer, (samples * kilobits * 125) / rate, padding),
    kilobits,
    rate,
    samples,
    kind: (header & KIND) >>> 0,
    layer,
    countAt: FRAME_HEADER_BYTES + sideBytes,
  }
}

function readLayer(header: number): 1 | 2 | 3 | undefined {
  const bits = (header >>> 17) & 3
  return bits === 3 ? 1 : bits === 2 ? 2 : bits === 1 ? 3 : undefined
}

/** Layer I counts in slots of four bytes. */
function countBytes(layer: number, exactBytes: number, padding: number) {
  const slotBytes = layer === 1 ? SLOT_BYTES : 1
  return (Math.floor(exactBytes / slotBytes) + padding) * slotBytes
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
