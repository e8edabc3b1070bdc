/**
 * The length of an MP3 file: as its first frame counts the others, or by the rate of its frames
 * where they are all alike. Of any other nothing is certain.
 */
import type { Window } from './open-window.ts'

const TAGS_MAX = 4
const TAG_BYTES = 10
const FRAME_BYTES_MAX = 2_900
const SEARCH_BYTES = 7_168
/** Where frames are compared, as shares of what there is. */
const SAMPLES = [0.2, 0.4, 0.6, 0.8] as const
const FRAMES_IN_A_ROW = 3
const KILOBITS_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const KILOBITS_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const RATES = [44_100, 48_000, 32_000]
const COUNTED_AT = 8
const VBRI_AT = 36

interface Frame {
  readonly bytes: number
  readonly kilobits: number
  readonly rate: number
  readonly samples: number
  /** From its beginning to where the count of all frames may stand. */
  readonly countAt: number
}

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

/** There may be several tags, each of which says how long it is. */
async function skipTags(window: Window): Promise<number> {
  let at = 0
  for (let tags = 0; tags < TAGS_MAX; tags += 1) {
    const head = await window.at(at, TAG_BYTES)
    if (head.length < TAG_BYTES || head.toString('latin1', 0, 3) !== 'ID3') break
    const hasFooter = (head.readUInt8(5) & 0x10) !== 0
    const length = [6, 7, 8, 9].reduce(
      (sum, index) => sum * 128 + (head.readUInt8(index) & 0x7f),
      0,
    )
    at += TAG_BYTES + length + (hasFooter ? TAG_BYTES : 0)
  }
  return at
}

/** The first place from there on where so many frames follow each other. */
async function findFrames(
  window: Window,
  from: number,
): Promise<{ readonly frame: Frame; readonly at: number } | undefined> {
  const piece = await window.at(from, SEARCH_BYTES + FRAMES_IN_A_ROW * FRAME_BYTES_MAX)
  for (let at = 0; at < Math.min(SEARCH_BYTES, piece.length); at += 1) {
    const frame = readFrame(piece, at)
    if (frame && followsRow(piece, at)) return { frame, at: from + at }
  }
  return undefined
}

/** At the end of the file there may be fewer. */
function followsRow(piece: Buffer, from: number): boolean {
  let at = from
  for (let frames = 0; frames < FRAMES_IN_A_ROW; frames += 1) {
    const frame = readFrame(piece, at)
    if (!frame) return frames > 1 && at + 4 > piece.length
    at += frame.bytes
  }
  return true
}

function readFrame(piece: Buffer, at: number): Frame | undefined {
  const [sync = 0, second = 0, third = 0, fourth = 0] = piece.subarray(at, at + 4)
  // Eleven ones, then the version, then the layer, which must be the third.
  if (sync !== 0xff || (second & 0xe0) !== 0xe0 || (second & 0b110) !== 0b010) return undefined
  const version = (second >> 3) & 0b11
  const isFirst = version === 0b11
  const kilobits = (isFirst ? KILOBITS_1 : KILOBITS_2)[third >> 4]
  const base = RATES[(third >> 2) & 0b11]
  if (!kilobits || !base || version === 0b01) return undefined
  const rate = isFirst ? base : version === 0b10 ? base / 2 : base / 4
  const samples = isFirst ? 1152 : 576
  const isMono = fourth >> 6 === 0b11
  const padding = (third >> 1) & 1
  const sideBytes = isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17
  const bytes = Math.floor((samples * kilobits * 125) / rate) + padding
  return { bytes, kilobits, rate, samples, countAt: 4 + sideBytes }
}

/** Encoders of varying rates, and many others, begin with a frame that counts all. */
function readCount(piece: Buffer, { countAt }: Frame): number | undefined {
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
