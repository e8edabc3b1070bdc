/**
 * Measures an MP3 by its frames while it passes: exact at any bit rate, constant or variable,
 * regardless of its header.
 */
import { FRAME_HEADER_BYTES, readMp3Frame, readTagBytes, TAG_HEAD_BYTES } from './mp3-frame.ts'

export interface Mp3Counter {
  push(chunk: Uint8Array): void
  /** Returns undefined if most bytes are in no frame: the frames were then found by chance. */
  seconds(): number | undefined
  /** Bytes of audio outside of frames of the first frame's kind. */
  looseBytes(): number
}

/** The bits of version, layer and sample rate, equal in all frames of a file. */
const SAME = 0xfffe0c00

export function createMp3Counter(): Mp3Counter {
  const start: number[] = []
  let skipped = 0
  let header = 0
  let gathered = 0
  let kind: number | undefined
  let samples = 0
  let rate = 0
  let soundBytes = 0
  let framedBytes = 0

  /** Shifts a window of four bytes until it begins a frame. */
  function take(byte: number): void {
    header = ((header << 8) | byte) >>> 0
    gathered += 1
    if (gathered < FRAME_HEADER_BYTES) return
    gathered = FRAME_HEADER_BYTES - 1
    const frame = readMp3Frame(header)
    const found = (header & SAME) >>> 0
    if (!frame || (kind !== undefined && found !== kind)) return
    kind = found
    gathered = 0
    skipped = frame.bytes - FRAME_HEADER_BYTES
    // All frames have one rate, so that whole samples are counted and divided once.
    samples += frame.samples
    rate = frame.rate
    framedBytes += frame.bytes
  }

  function begin(byte: number): void {
    start.push(byte)
    if (start.length < TAG_HEAD_BYTES) return
    const head = Uint8Array.from(start)
    const tagBytes = readTagBytes(head)
    if (tagBytes === undefined) {
      walk(head)
      return
    }
    skipped = tagBytes - TAG_HEAD_BYTES
    soundBytes -= skipped
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
      while (start.length < TAG_HEAD_BYTES && at < chunk.length) {
        begin(chunk[at] ?? 0)
        at += 1
      }
      walk(chunk.subarray(at))
    },
    looseBytes: () => Math.max(0, soundBytes - framedBytes),
    seconds: () => (samples > 0 && framedBytes * 2 >= soundBytes ? samples / rate : undefined),
  }
}
