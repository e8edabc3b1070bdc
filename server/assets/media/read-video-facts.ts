/**
 * Width, height and length of an MP4 from its first bytes. Vendors write the index first, so that
 * a player can begin at once; of files that have it last, nothing is known.
 */

export interface VideoFacts {
  readonly width?: number
  readonly height?: number
  readonly seconds?: number
}

const TYPE = { start: 4, end: 8 }
const HEADER_BYTES = 8
/** A box whose version is 1 has longer times in it, before what is read here. */
const LONGER_TIMES_BYTES = 12
const BOXES_MAX = 200

interface Box {
  readonly type: string
  readonly content: Buffer
}

export function readVideoFacts(head: Buffer): VideoFacts {
  if (head.toString('latin1', TYPE.start, TYPE.end) !== 'ftyp') return {}
  const movie = listBoxes(head).find(({ type }) => type === 'moov')
  if (!movie) return {}
  const boxes = listBoxes(movie.content)
  const tracks = boxes.filter(({ type }) => type === 'trak').map(readTrackSize)
  const seconds = readSeconds(boxes.find(({ type }) => type === 'mvhd'))
  return { ...tracks.find((size) => size !== undefined), ...(seconds ? { seconds } : {}) }
}

/** As far as they are there: the last may be cut off. */
function listBoxes(content: Buffer): Box[] {
  const boxes: Box[] = []
  let at = 0
  while (at + HEADER_BYTES <= content.length && boxes.length < BOXES_MAX) {
    const bytes = content.readUInt32BE(at)
    // 0 and 1 stand for sizes that only the largest boxes have, and those hold no index.
    if (bytes < HEADER_BYTES) break
    const type = content.toString('latin1', at + TYPE.start, at + TYPE.end)
    boxes.push({ type, content: content.subarray(at + HEADER_BYTES, at + bytes) })
    at += bytes
  }
  return boxes
}

function readTrackSize(track: Box): VideoFacts | undefined {
  const header = listBoxes(track.content).find(({ type }) => type === 'tkhd')?.content
  if (!header || header.length < 84) return undefined
  const at = 76 + (header[0] === 1 ? LONGER_TIMES_BYTES : 0)
  if (header.length < at + 8) return undefined
  // Fixed-point numbers of which the first half counts whole pixels; a sound track has none.
  const width = header.readUInt16BE(at)
  const height = header.readUInt16BE(at + 4)
  return width > 0 && height > 0 ? { width, height } : undefined
}

function readSeconds(header: Box | undefined): number | undefined {
  const content = header?.content
  if (!content || content.length < 32) return undefined
  const isLong = content[0] === 1
  const scale = content.readUInt32BE(isLong ? 20 : 12)
  const length = isLong ? Number(content.readBigUInt64BE(24)) : content.readUInt32BE(16)
  const seconds = length / scale
  return Number.isFinite(seconds) && seconds > 0 ? Math.round(seconds * 1000) / 1000 : undefined
}
