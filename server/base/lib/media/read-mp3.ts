/**
 * Reads the length of an MP3 file from the frame count in its first frame, or from the frame rate
 * if all frames are alike. Other files have no certain length.
 */
import {
  FRAME_HEADER_BYTES,
  type MpegFrame,
  readMpegFrame,
  readTagBytes,
  TAG_HEAD_BYTES,
} from './mpeg-frame.ts'
import type { Window } from './open-window.ts'

const TAGS_MAX = 4
const FRAME_BYTES_MAX = 2_900
const SEARCH_BYTES = 7_168
/** Positions at which frames are compared, as fractions of the file. */
const SAMPLES = [0.2, 0.4, 0.6, 0.8] as const
const FRAMES_IN_A_ROW = 3
const COUNTED_AT = 8
const VBRI_AT = 36

export async function readMp3(window: Window): Promise<number | undefined> {
  const start = await skipTags(window)
  const first = await findFrames(window, start)
  if (!first) return undefined
  const { frame, at } = first
  const frames = readCount(await window.at(at, FRAME_BYTES_MAX), frame)
  if (frames !== undefined) return (frames * frame.samples) / frame.rate
  for (const share of SAMPLES) {
    const there = await findFrames(window, at + Math.floor((window.bytes - at) * share))
    if (there?.frame.kilobits !== frame.kilobits || there.frame.rate !== frame.rate) {
      return undefined
    }
  }
  return (window.bytes - at) / (frame.kilobits * 125)
}

/** Skips tags, of which there may be several. */
async function skipTags(window: Window): Promise<number> {
  let at = 0
  for (let tags = 0; tags < TAGS_MAX; tags += 1) {
    const bytes = readTagBytes(await window.at(at, TAG_HEAD_BYTES))
    if (bytes === undefined) break
    at += bytes
  }
  return at
}

/** Returns the first position with enough consecutive frames. */
async function findFrames(
  window: Window,
  from: number,
): Promise<{ readonly frame: MpegFrame; readonly at: number } | undefined> {
  const piece = await window.at(from, SEARCH_BYTES + FRAMES_IN_A_ROW * FRAME_BYTES_MAX)
  for (let at = 0; at < Math.min(SEARCH_BYTES, piece.length); at += 1) {
    const frame = readFrame(piece, at)
    if (frame && followsRow(piece, at)) return { frame, at: from + at }
  }
  return undefined
}

/** Accepts fewer frames at the end of the file. */
function followsRow(piece: Buffer, from: number): boolean {
  let at = from
  for (let frames = 0; frames < FRAMES_IN_A_ROW; frames += 1) {
    const frame = readFrame(piece, at)
    if (!frame) return frames > 1 && at + 4 > piece.length
    at += frame.bytes
  }
  return true
}

function readFrame(piece: Buffer, at: number): MpegFrame | undefined {
  const isWhole = at + FRAME_HEADER_BYTES <= piece.length
  return isWhole ? readMpegFrame(piece.readUInt32BE(at)) : undefined
}

/** Reads the count of all frames, which many encoders put into the first frame. */
function readCount(piece: Buffer, { countAt }: MpegFrame): number | undefined {
  const name = piece.toString('latin1', countAt, countAt + 4)
  const isCounted = ((piece[countAt + 7] ?? 0) & 1) === 1
  if ((name === 'Xing' || name === 'Info') && isCounted) return count(piece, countAt + COUNTED_AT)
  const other = piece.toString('latin1', VBRI_AT, VBRI_AT + 4)
  return other === 'VBRI' ? count(piece, VBRI_AT + 14) : undefined
}

function count(piece: Buffer, at: number): number | undefined {
  const frames = at + 4 <= piece.length ? piece.readUInt32BE(at) : 0
  return frames > 0 ? frames : undefined
}
