/** The samples of a recording in messages of 80 ms, read from the disk a little ahead. */
import { BYTES_PER_SECOND } from '../../dialects/interpretation/read-wav.ts'
import type { RequestFile } from '../upstream.ts'
import { encodeAudio } from './encode-request.ts'

const CHUNK_MS = 80
const CHUNK_BYTES = (BYTES_PER_SECOND * CHUNK_MS) / 1000
const CHUNKS_AHEAD = 6

export interface Feed {
  /** The next message; undefined after the last sample, or once it was stopped. */
  readonly next: () => Promise<Uint8Array | undefined>
  readonly sentBytes: () => number
  readonly stop: () => void
}

export function createFeed(file: RequestFile, sessionId: string): Feed {
  const block = Buffer.allocUnsafeSlow(CHUNK_BYTES * CHUNKS_AHEAD)
  let filled = 0
  let used = 0
  let position = 0
  let isStopped = false
  return {
    async next() {
      if (isStopped) return undefined
      if (used === filled) {
        filled = await file.read(block, position)
        used = 0
        if (filled === 0) return undefined
      }
      const samples = block.subarray(used, Math.min(used + CHUNK_BYTES, filled))
      used += samples.length
      position += samples.length
      return encodeAudio(sessionId, samples)
    },
    sentBytes: () => position,
    stop() {
      isStopped = true
    },
  }
}
