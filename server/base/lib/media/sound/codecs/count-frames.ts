/**
 * Counts the frames of a stream as it passes, where each frame follows the previous one: MPEG
 * audio, ADTS and AMR. As in a decoder, a frame counts if it begins where another ends, or if
 * another of its kind follows it; anything between frames is skipped.
 */
import { createClock } from './clock.ts'

export interface SoundFrame {
  readonly bytes: number
  readonly samples: number
  readonly rate: number
  /** Equal in all frames of one stream. */
  readonly kind: number
}

export interface FrameFormat {
  readonly headBytes: number
  /** The first byte of each frame, if it is always the same. */
  readonly mark?: number
  /** True if decoders do not play a last frame that is cut off. */
  readonly isPlayedWhole?: true
  /** Reads a header at an offset, from which `headBytes` are there. */
  readonly read: (bytes: Buffer, at: number) => SoundFrame | undefined
}

export interface FrameCounter {
  push(chunk: Uint8Array): void
  /** Seconds so far; 0 without frames. */
  seconds(): number
  frames(): number
}

export function createFrameCounter(format: FrameFormat): FrameCounter {
  const { headBytes, mark, read, isPlayedWhole } = format
  const clock = createClock()
  let last = 0
  let frames = 0
  let skipped = 0
  let rest: Buffer = Buffer.alloc(0)
  /** True where the next frame would follow another, or begins the stream. */
  let isNext = true
  /** A frame behind something else, until another of its kind follows it. */
  let doubtful: SoundFrame | undefined

  function count({ samples, rate }: SoundFrame): void {
    clock.add(samples, rate)
    frames += 1
    last = samples / rate
  }

  function take(frame: SoundFrame): void {
    skipped = frame.bytes
    if (!isNext) {
      doubtful = frame
      isNext = true
      return
    }
    if (doubtful && doubtful.kind !== frame.kind) {
      doubtful = frame
      return
    }
    if (doubtful) count(doubtful)
    doubtful = undefined
    count(frame)
  }

  /** Returns the next offset at which a frame may begin. */
  function pass(bytes: Buffer, at: number): number {
    isNext = false
    doubtful = undefined
    if (mark === undefined) return at + 1
    const found = bytes.indexOf(mark, at + 1)
    return found === -1 ? bytes.length : found
  }

  return {
    push(chunk) {
      const bytes =
        rest.length === 0
          ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
          : Buffer.concat([rest, chunk])
      let at = 0
      for (;;) {
        const step = Math.min(skipped, bytes.length - at)
        skipped -= step
        at += step
        if (bytes.length - at < headBytes) break
        const frame = read(bytes, at)
        if (frame) take(frame)
        else at = pass(bytes, at)
      }
      rest = Buffer.from(bytes.subarray(at))
    },
    seconds: () => clock.seconds() - (isPlayedWhole && skipped > 0 ? last : 0),
    frames: () => frames,
  }
}
