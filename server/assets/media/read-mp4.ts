/** The length of an MP4, M4A or MOV file: what the header of its index states, wherever that is. */
import type { Window } from './open-window.ts'

const BOXES_MAX = 500
const HEADER_BYTES = 16
const SHORT_HEADER_BYTES = 8
const MOVIE_HEADER_BYTES = 32
const UNKNOWN_LENGTH_32 = 0xffffffff
const UNKNOWN_LENGTH_64 = 0xffffffffffffffffn

interface Box {
  readonly type: string
  /** Of its content. */
  readonly start: number
  readonly end: number
}

export async function readMp4(window: Window): Promise<number | undefined> {
  const movie = await findBox(window, 'moov', 0, window.bytes)
  if (!movie) return undefined
  const header = await findBox(window, 'mvhd', movie.start, movie.end)
  if (!header) return undefined
  const content = await window.at(header.start, MOVIE_HEADER_BYTES)
  if (content.length < MOVIE_HEADER_BYTES || header.end - header.start < 20) return undefined
  return content[0] === 1
    ? divide(content.readBigUInt64BE(24), UNKNOWN_LENGTH_64, content.readUInt32BE(20))
    : divide(content.readUInt32BE(16), UNKNOWN_LENGTH_32, content.readUInt32BE(12))
}

/** A file that comes in fragments states no length, or none. */
function divide(length: number | bigint, unknown: number | bigint, scale: number) {
  return length === unknown || scale === 0 ? undefined : Number(length) / scale
}

async function findBox(
  window: Window,
  type: string,
  from: number,
  to: number,
): Promise<Box | undefined> {
  let at = from
  for (let boxes = 0; boxes < BOXES_MAX && at + SHORT_HEADER_BYTES <= to; boxes += 1) {
    const box = readBox(await window.at(at, HEADER_BYTES), at, to)
    if (!box || box.type === type) return box
    at = box.end
  }
  return undefined
}

function readBox(head: Buffer, at: number, to: number): Box | undefined {
  if (head.length < SHORT_HEADER_BYTES) return undefined
  const type = head.toString('latin1', 4, 8)
  const stated = head.readUInt32BE(0)
  // 0: to the end of the file. 1: a longer number follows.
  if (stated === 0) return { type, start: at + SHORT_HEADER_BYTES, end: to }
  const isLong = stated === 1
  if (isLong && head.length < HEADER_BYTES) return undefined
  const size = isLong ? Number(head.readBigUInt64BE(8)) : stated
  const start = at + (isLong ? HEADER_BYTES : SHORT_HEADER_BYTES)
  const end = at + size
  return end >= start && Number.isSafeInteger(end) ? { type, start, end } : undefined
}
