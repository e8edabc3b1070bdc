/**
 * Measures MPEG audio by its frames while it passes, whatever its header says. In a file, the first
 * frame of layer III may describe the others: it is not played, nor are the samples that the
 * encoder added at both ends.
 */
import {
  FRAME_HEADER_BYTES,
  type MpegFrame,
  readMpegFrame,
  readTagBytes,
  TAG_HEAD_BYTES,
} from '../mpeg-frame.ts'
import { createFrameCounter, type FrameCounter } from './codecs/count-frames.ts'
import { MPEG } from './codecs/frame-formats.ts'

/** Enough for a frame's description of all others. */
const FIRST_BYTES = 256
/** Every decoder of layer III adds them at the start. */
const DECODER_SAMPLES = 529
const HAS_FRAMES = 1
const HAS_BYTES = 2
const HAS_TABLE = 4
const HAS_QUALITY = 8
const TABLE_BYTES = 100
/** From the encoder's name to the samples that it added. */
const ADDED_AT = 21
const ENCODERS: ReadonlySet<string> = new Set(['LAME', 'Lavf', 'Lavc'])
const VBRI_AT = 36

/** Counts an MP3 file, with its tags. */
export function createMp3Counter(): Pick<FrameCounter, 'push' | 'seconds'> {
  const counter = createFrameCounter(MPEG)
  let first: Buffer = Buffer.alloc(0)
  const pushSound = (chunk: Uint8Array) => {
    if (first.length < FIRST_BYTES) {
      first = Buffer.concat([first, chunk.subarray(0, FIRST_BYTES - first.length)])
    }
    counter.push(chunk)
  }
  return {
    push: createTagSkipper(pushSound),
    seconds() {
      const isLong = first.length >= FRAME_HEADER_BYTES
      const frame = isLong ? readMpegFrame(first.readUInt32BE(0)) : undefined
      const seconds = counter.seconds()
      return frame ? Math.max(0, seconds - unplayed(first, frame, counter.frames())) : seconds
    },
  }
}

/** Returns the seconds of a file's frames that are not played. */
function unplayed(first: Buffer, frame: MpegFrame, counted: number): number {
  const { samples, rate, countAt, layer } = frame
  if (layer !== 3) return 0
  if (first.toString('latin1', VBRI_AT, VBRI_AT + 4) === 'VBRI') return samples / rate
  const name = first.toString('latin1', countAt, countAt + 4)
  if ((name !== 'Xing' && name !== 'Info') || first.length < FIRST_BYTES) return 0
  const flags = first.readUInt32BE(countAt + 4)
  if ((flags & (HAS_FRAMES | HAS_BYTES)) === 0) return 0
  let at = countAt + 8
  const frames = (flags & HAS_FRAMES) === 0 ? undefined : first.readUInt32BE(at)
  for (const flag of [HAS_FRAMES, HAS_BYTES, HAS_QUALITY]) if ((flags & flag) !== 0) at += 4
  if ((flags & HAS_TABLE) !== 0) at += TABLE_BYTES
  const isKnown = ENCODERS.has(first.toString('latin1', at, at + 4))
  const isWhole = frames !== undefined && frames > 0 && counted > frames
  return (
    (samples + (isKnown ? addedSamples(first.readUIntBE(at + ADDED_AT, 3), isWhole) : 0)) / rate
  )
}

/** Twelve bits each: the samples added before and after the sound. */
function addedSamples(both: number, isWhole: boolean): number {
  const after = isWhole ? Math.max(0, (both & 0xfff) - DECODER_SAMPLES) : 0
  return (both >>> 12) + DECODER_SAMPLES + after
}

/** Passes on what follows the tags at the start, of which there may be several. */
function createTagSkipper(pass: (chunk: Uint8Array) => void): (chunk: Uint8Array) => void {
  let head: Buffer = Buffer.alloc(0)
  let skipped = 0
  let isSound = false

  function begin(chunk: Uint8Array): void {
    head = Buffer.concat([head, chunk])
    let at = 0
    for (;;) {
      const step = Math.min(skipped, head.length - at)
      skipped -= step
      at += step
      if (head.length - at < TAG_HEAD_BYTES) break
      const tagBytes = readTagBytes(head.subarray(at, at + TAG_HEAD_BYTES))
      isSound = tagBytes === undefined
      if (isSound) pass(head.subarray(at))
      if (isSound) return
      skipped = tagBytes ?? 0
    }
    head = head.subarray(at)
  }

  return (chunk) => (isSound ? pass(chunk) : begin(chunk))
}
