/**
 * Measures an MP3 by its frames while it passes: exact at any bit rate, also a changing one,
 * whatever its header states.
 */

export interface Mp3Counter {
  push(chunk: Uint8Array): void
  /** Undefined where most of it is in no frame: then the frames are found by chance. */
  seconds(): number | undefined
  /** Bytes of sound that are in no frame of the kind that the first one is. */
  looseBytes(): number
}

interface Frame {
  readonly bytes: number
  readonly seconds: number
}

const HEADER_BYTES = 4
const SYNC = 0x7ff
const LAYER_3 = 1
/** Kilobits a second by version; indexes 0 and 15 are no rate. */
const RATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0]
const RATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]
const SAMPLE_RATES = [44_100, 48_000, 32_000]
/** Divisors of the sample rate by version; one is reserved. */
const DIVISORS = [4, undefined, 2, 1]
/** The bits of version, layer and sample rate, equal in all frames of a file. */
const SAME = 0xfffe0c00

/** A tag at the start, whose pictures may contain bytes that look like frames. */
const TAG_BYTES = 10
const TAG = [0x49, 0x44, 0x33]

export function createMp3Counter(): Mp3Counter {
  const start: number[] = []
  let skipped = 0
  let header = 0
  let gathered = 0
  let kind: number | undefined
  let total = 0
  let soundBytes = 0
  let framedBytes = 0

  /** A window of four bytes that moves on until it begins a frame. */
  function take(byte: number): void {
    header = ((header << 8) | byte) >>> 0
    gathered += 1
    if (gathered < HEADER_BYTES) return
    gathered = HEADER_BYTES - 1
    const frame = readFrame(header)
    const found = (header & SAME) >>> 0
    if (!frame || (kind !== undefined && found !== kind)) return
    kind = found
    gathered = 0
    skipped = frame.bytes - HEADER_BYTES
    total += frame.seconds
    framedBytes += frame.bytes
  }

  function passOver(tagBytes: number): void {
    skipped = tagBytes
    soundBytes -= tagBytes
  }

  function begin(byte: number): void {
    start.push(byte)
    if (start.length < TAG_BYTES) return
    if (TAG.every((letter, at) => start[at] === letter)) passOver(readTagLength(start))
    else walk(Uint8Array.from(start))
  }

  function walk(chunk: Uint8Array): void {
    soundBytes += chunk.length
    for (let at = 0; at < chunk.length; ) {
      const step = Math.min(skipped, chunk.length - at)
      skipped -= step
      at += step
      const byte = chunk[at]
      if (byte === undefined) return
      take(byte)
      at += 1
    }
  }

  return {
    push(chunk) {
      let at = 0
      while (start.length < TAG_BYTES && at < chunk.length) {
        begin(chunk[at] ?? 0)
        at += 1
      }
      walk(chunk.subarray(at))
    },
    looseBytes: () => Math.max(0, soundBytes - framedBytes),
    seconds: () => (total > 0 && framedBytes * 2 >= soundBytes ? total : undefined),
  }
}

/** Reads a size of which each byte holds seven bits. */
function readTagLength(start: readonly number[]): number {
  return start.slice(6).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0)
}

function readFrame(header: number): Frame | undefined {
  const version = (header >>> 19) & 3
  const divisor = DIVISORS[version]
  const sampleRate = SAMPLE_RATES[(header >>> 10) & 3]
  const kilobits = (divisor === 1 ? RATES_1 : RATES_2)[(header >>> 12) & 15]
  const isFrame = header >>> 21 === SYNC && ((header >>> 17) & 3) === LAYER_3
  if (!isFrame || !divisor || !sampleRate || !kilobits) return undefined
  const rate = sampleRate / divisor
  const samples = divisor === 1 ? 1152 : 576
  const padding = (header >>> 9) & 1
  return {
    bytes: Math.floor((samples * kilobits * 125) / rate) + padding,
    seconds: samples / rate,
  }
}
