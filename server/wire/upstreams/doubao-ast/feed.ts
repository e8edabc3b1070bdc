/** Reads a recording from the disk, a few chunks ahead, as messages of 80 ms of samples. */
import { BYTES_PER_SECOND } from '../../dialects/interpretation/read-wav.ts'
import type { RequestFile } from '../upstream.ts'
import { encodeAudio } from './encode-request.ts'

const CHUNK_MS = 80
const CHUNK_BYTES = (BYTES_PER_SECOND * CHUNK_MS) / 1000
const CHUNKS_AHEAD = 3

export interface Feed {
  /**
   * Returns the next message, valid until the following call, or undefined after the last sample
   * and after `stop`.
   */
  readonly next: () => Promise<Uint8Array | undefined>
  readonly sentBytes: () => number
  readonly stop: () => void
}

/**
 * Returns an encoder that reuses one message for all whole chunks: the samples are its last bytes,
 * and the next chunk is requested only after the message was sent.
 */
function createEncoder(sessionId: string): (samples: Uint8Array) => Uint8Array {
  const message = encodeAudio(sessionId, new Uint8Array(CHUNK_BYTES))
  return (samples) => {
    if (samples.length !== CHUNK_BYTES) return encodeAudio(sessionId, samples)
    message.set(samples, message.length - CHUNK_BYTES)
    return message
  }
}

export function createFeed(file: RequestFile, sessionId: string): Feed {
  const encode = createEncoder(sessionId)
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
      return encode(samples)
    },
    sentBytes: () => position,
    stop() {
      isStopped = true
    },
  }
}
