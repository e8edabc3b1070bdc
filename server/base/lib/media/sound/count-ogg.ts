/**
 * Measures an Ogg recording by its packets while it passes: players play them all, whatever
 * positions its pages state. A position counts where it ends the sound within the last packet. A
 * file may hold several streams side by side, of which the longest counts, and several recordings
 * in a row.
 */
import type { FrameCounter } from './codecs/count-frames.ts'
import { createOggStream, type OggPage, type OggStream } from './ogg-stream.ts'

const PAGE_MARK = Buffer.from('OggS')
const HEADER_BYTES = 27
const FLAGS_AT = 5
const POSITION_AT = 6
const SERIAL_AT = 14
const SEGMENTS_AT = 26
const WHOLE_SEGMENT = 255
const IS_CONTINUED = 1
const IS_FIRST = 2
const IS_LAST = 4
/** Streams of one recording: further ones count as another. */
const STREAMS_MAX = 64

interface Recording {
  readonly streams: Map<number, OggStream>
  /** True once a page without a beginning was read: a further stream is another recording. */
  hasSound: boolean
}

export function createOggCounter(): Pick<FrameCounter, 'push' | 'seconds'> & {
  /** Bytes outside of pages. */
  looseBytes(): number
} {
  let rest: Buffer = Buffer.alloc(0)
  let current: Recording = { streams: new Map(), hasSound: false }
  let endedSeconds = 0
  let looseBytes = 0

  function take({ page, serial }: ReadPage): void {
    const known = current.streams.get(serial)
    if (page.isFirst || !known) {
      if (current.hasSound || current.streams.size >= STREAMS_MAX) {
        endedSeconds += longest(current)
        current = { streams: new Map(), hasSound: false }
      }
      current.streams.set(serial, createOggStream())
    } else {
      current.hasSound = true
    }
    current.streams.get(serial)?.take(page)
  }

  return {
    push(chunk) {
      rest = Buffer.concat([rest, chunk])
      let at = 0
      for (;;) {
        const found = rest.indexOf(PAGE_MARK, at)
        const start = found === -1 ? Math.max(at, rest.length - PAGE_MARK.length + 1) : found
        looseBytes += start - at
        at = start
        const read = found === -1 ? undefined : readPage(rest.subarray(at))
        if (!read) break
        take(read)
        at += read.bytes
      }
      rest = rest.subarray(at)
    },
    seconds: () => endedSeconds + longest(current),
    looseBytes: () => looseBytes + rest.length,
  }
}

function longest({ streams }: Recording): number {
  let seconds = 0
  for (const stream of streams.values()) seconds = Math.max(seconds, stream.seconds())
  return seconds
}

interface ReadPage {
  readonly page: OggPage
  readonly bytes: number
  readonly serial: number
}

/** Returns undefined until the page is complete. */
function readPage(bytes: Buffer): ReadPage | undefined {
  const segments = bytes[SEGMENTS_AT]
  if (segments === undefined || bytes.length < HEADER_BYTES + segments) return undefined
  const parts: { content: Buffer; isEnd: boolean }[] = []
  const start = HEADER_BYTES + segments
  let at = start
  let partAt = start
  for (const size of bytes.subarray(HEADER_BYTES, start)) {
    at += size
    if (size === WHOLE_SEGMENT) continue
    parts.push({ content: bytes.subarray(partAt, at), isEnd: true })
    partAt = at
  }
  if (bytes.length < at) return undefined
  if (partAt < at) parts.push({ content: bytes.subarray(partAt, at), isEnd: false })
  const flags = bytes[FLAGS_AT] ?? 0
  const page = {
    parts,
    position: Number(bytes.readBigInt64LE(POSITION_AT)),
    isContinued: (flags & IS_CONTINUED) !== 0,
    isFirst: (flags & IS_FIRST) !== 0,
    isLast: (flags & IS_LAST) !== 0,
  }
  return { page, bytes: at, serial: bytes.readUInt32LE(SERIAL_AT) }
}
