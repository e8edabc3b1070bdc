/**
 * Measures an Ogg Opus recording by its packets while it passes: players play them all, regardless
 * of the positions stated in pages, and a file may contain several recordings in a row.
 */

export interface OpusCounter {
  push(chunk: Uint8Array): void
  /** Returns undefined without Opus data. */
  seconds(): number | undefined
  /** Bytes outside of the pages of an Opus recording. */
  looseBytes(): number
}

const PAGE_MARK = Buffer.from('OggS')
const HEADER_BYTES = 27
const FLAGS_AT = 5
const SERIAL_AT = 14
const SEGMENTS_AT = 26
const IS_CONTINUED = 1
const WHOLE_SEGMENT = 255
/** Milliseconds of a frame: speech, both, music. */
const SPEECH_MS = [10, 20, 40, 60]
const MIXED_MS = [10, 20]
const MUSIC_MS = [2.5, 5, 10, 20]

interface Page {
  readonly bytes: number
  readonly serial: number
  /** Packets that begin on this page. */
  readonly packets: readonly Buffer[]
}

export function createOpusCounter(): OpusCounter {
  const recordings = new Set<number>()
  let rest: Buffer = Buffer.alloc(0)
  let milliseconds = 0
  let looseBytes = 0

  function take({ bytes, serial, packets }: Page): void {
    if (packets[0]?.toString('latin1', 0, 8) === 'OpusHead') recordings.add(serial)
    if (!recordings.has(serial)) looseBytes += bytes
    else for (const packet of packets) milliseconds += readMilliseconds(packet)
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
        const page = found === -1 ? undefined : readPage(rest.subarray(at))
        if (!page) break
        take(page)
        at += page.bytes
      }
      rest = rest.subarray(at)
    },
    seconds: () => (recordings.size > 0 ? milliseconds / 1000 : undefined),
    looseBytes: () => looseBytes + rest.length,
  }
}

/** Returns undefined until the page is complete. */
function readPage(bytes: Buffer): Page | undefined {
  const segments = bytes[SEGMENTS_AT]
  if (segments === undefined || bytes.length < HEADER_BYTES + segments) return undefined
  const packets: Buffer[] = []
  let isInside = ((bytes[FLAGS_AT] ?? 0) & IS_CONTINUED) !== 0
  let at = HEADER_BYTES + segments
  for (const size of bytes.subarray(HEADER_BYTES, at)) {
    if (!isInside) packets.push(bytes.subarray(at))
    isInside = size === WHOLE_SEGMENT
    at += size
  }
  if (bytes.length < at) return undefined
  return { bytes: at, serial: bytes.readUInt32LE(SERIAL_AT), packets }
}

function readMilliseconds(packet: Buffer): number {
  const [first = 0, second = 0] = packet
  if (packet.toString('latin1', 0, 4) === 'Opus') return 0
  const kind = first >> 3
  const frames = [1, 2, 2, second & 0x3f][first & 3] ?? 1
  const each = kind < 12 ? SPEECH_MS[kind & 3] : kind < 16 ? MIXED_MS[kind & 1] : MUSIC_MS[kind & 3]
  return frames * (each ?? 0)
}
