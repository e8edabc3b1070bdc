/** The length of a WAVE file: its samples, at the rate that its format states. */
import type { Window } from './open-window.ts'

const CHUNKS_AT = 12
const CHUNKS_MAX = 64
const HEADER_BYTES = 8
const FORMAT_BYTES = 16

/** What is written to the end without going back says no size, or the largest that there is. */
const UNKNOWN_SIZES: ReadonlySet<number> = new Set([0, 0xffffffff])

export async function readWav(window: Window): Promise<number | undefined> {
  let rate: number | undefined
  let at = CHUNKS_AT
  for (let chunks = 0; chunks < CHUNKS_MAX; chunks += 1) {
    const head = await window.at(at, HEADER_BYTES + FORMAT_BYTES)
    if (head.length < HEADER_BYTES) return undefined
    const name = head.toString('latin1', 0, 4)
    const size = head.readUInt32LE(4)
    if (name === 'fmt ') rate = readRate(head.subarray(HEADER_BYTES))
    if (name === 'data') {
      const left = window.bytes - at - HEADER_BYTES
      const bytes = UNKNOWN_SIZES.has(size) ? left : Math.min(size, left)
      return rate && bytes / rate
    }
    at += HEADER_BYTES + size + (size % 2)
  }
  return undefined
}

/** Bytes a second. Of the two that a header states, players believe one or the other. */
function readRate(format: Buffer): number | undefined {
  if (format.length < FORMAT_BYTES) return undefined
  const sampleBytes = (format.readUInt16LE(2) * format.readUInt16LE(14)) / 8
  const computed = format.readUInt32LE(4) * sampleBytes
  const stated = format.readUInt32LE(8)
  // Compressed forms have no bits in a sample: there the stated rate is all there is.
  const rate = computed > 0 && stated > 0 ? Math.min(computed, stated) : stated || computed
  return rate > 0 ? rate : undefined
}
