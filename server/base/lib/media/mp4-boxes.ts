/** Finds boxes in an MP4, M4A or MOV file. */
import type { Reader } from './reader.ts'

export interface Box {
  /** The offset of its content, and of what follows it. */
  readonly start: number
  readonly end: number
}

const BOXES_MAX = 500
const HEADER_BYTES = 16
const SHORT_HEADER_BYTES = 8

/** Returns the first box of the type between two offsets, as far as the file reaches. */
export function* findBox(type: string, from: number, to: number): Reader<Box | undefined> {
  let at = from
  for (let boxes = 0; boxes < BOXES_MAX && at + SHORT_HEADER_BYTES <= to; boxes += 1) {
    const head = yield { at, count: HEADER_BYTES }
    const box = readBox(head, at, to)
    if (!box || head.toString('latin1', 4, 8) === type) return box
    at = box.end
  }
  return undefined
}

export function readBox(head: Buffer, at: number, to: number): Box | undefined {
  if (head.length < SHORT_HEADER_BYTES) return undefined
  const stated = head.readUInt32BE(0)
  // 0: the box extends to the end of the file. 1: a 64-bit size follows.
  if (stated === 0) return { start: at + SHORT_HEADER_BYTES, end: to }
  const isLong = stated === 1
  if (isLong && head.length < HEADER_BYTES) return undefined
  const size = isLong ? Number(head.readBigUInt64BE(8)) : stated
  const start = at + (isLong ? HEADER_BYTES : SHORT_HEADER_BYTES)
  const end = Math.min(at + size, to)
  return end >= start && Number.isSafeInteger(end) ? { start, end } : undefined
}
