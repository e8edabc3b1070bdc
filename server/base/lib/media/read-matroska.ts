/** Reads the length of a WebM or Matroska file, if its information states one. */
import { ELEMENT_HEAD_BYTES, readElementHead, readFloat, readUnsigned } from './ebml.ts'
import type { Window } from './open-window.ts'

const ELEMENTS_MAX = 200
const SEGMENT = 0x18538067
const CLUSTER = 0x1f43b675
const INFO = 0x1549a966
const SCALE = 0x2ad7b1
const DURATION = 0x4489
const SCALE_DEFAULT = 1_000_000
const NANOSECONDS = 1e9

interface Element {
  readonly id: number
  /** Range of the content; an element of unknown size ends with its parent. */
  readonly start: number
  readonly end: number
}

export async function readMatroska(window: Window): Promise<number | undefined> {
  const segment = await findElement(window, SEGMENT, 0, window.bytes)
  const info = segment && (await findElement(window, INFO, segment.start, segment.end))
  if (!info) return undefined
  const duration = await findElement(window, DURATION, info.start, info.end)
  const scale = await findElement(window, SCALE, info.start, info.end)
  if (!duration) return undefined
  const ticks = readFloat(await window.at(duration.start, duration.end - duration.start))
  const stated = scale && readUnsigned(await window.at(scale.start, scale.end - scale.start))
  return ticks === undefined ? undefined : (ticks * (stated || SCALE_DEFAULT)) / NANOSECONDS
}

/** Returns the first such element; after the first cluster there is only media data. */
async function findElement(
  window: Window,
  id: number,
  from: number,
  to: number,
): Promise<Element | undefined> {
  let at = from
  for (let elements = 0; elements < ELEMENTS_MAX && at < to; elements += 1) {
    const element = readElement(await window.at(at, ELEMENT_HEAD_BYTES), at, to)
    if (!element || element.id === CLUSTER) return undefined
    if (element.id === id) return element
    at = element.end
  }
  return undefined
}

function readElement(head: Buffer, at: number, to: number): Element | undefined {
  const read = readElementHead(head)
  if (!read) return undefined
  const start = at + read.bytes
  const end = read.size === undefined ? to : Math.min(start + read.size, to)
  return { id: read.id, start, end }
}
