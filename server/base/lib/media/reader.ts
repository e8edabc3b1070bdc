/**
 * Readers of headers yield the ranges that they need, so that one reader serves a stored file, the
 * beginning of a file, and a file that is still arriving.
 */
import { setImmediate } from 'node:timers/promises'
import type { Window } from './open-window.ts'

/** `count` bytes from `at` on. */
export interface Range {
  readonly at: number
  readonly count: number
}

/** Requested by a reader that computes for long, so that other work is done in between. */
export const PAUSE: Range = { at: 0, count: 0 }

/** Ranges ascend. If the file ends within one, fewer bytes are passed. */
export type Reader<Found> = Generator<Range, Found, Buffer>

/** Runs a reader over a stored file. Rejects with WindowExhausted and what the reader throws. */
export async function readWindow<Found>(window: Window, reader: Reader<Found>): Promise<Found> {
  let step = reader.next()
  while (!step.done) {
    const { at, count } = step.value
    if (step.value === PAUSE) await setImmediate()
    step = reader.next(window.cached(at, count) ?? (await window.at(at, count)))
  }
  return step.value
}

/** Runs a reader over a file's first bytes as if they were the whole file. */
export function readHead<Found>(head: Buffer, reader: Reader<Found>): Found {
  let step = reader.next()
  while (!step.done) {
    const { at, count } = step.value
    step = reader.next(head.subarray(at, at + count))
  }
  return step.value
}

export interface StreamReader<Found> {
  /** Takes the next bytes. Throws what the reader throws. */
  push(chunk: Uint8Array): void
  /** Ends the file and returns what the reader found. Throws what the reader throws. */
  end(): Found
}

/** Runs a reader over a file that arrives in chunks; keeps at most one range in memory. */
export function createStreamReader<Found>(reader: Reader<Found>): StreamReader<Found> {
  let step = reader.next()
  let position = 0
  let kept: Buffer = Buffer.alloc(0)

  /** Returns the rest of the chunk after the range that the reader waits for. */
  function take(chunk: Uint8Array, { at, count }: Range): Uint8Array {
    const skipped = Math.min(Math.max(at - position, 0), chunk.length)
    const part = chunk.subarray(skipped, skipped + count - kept.length)
    position += skipped + part.length
    kept = Buffer.concat([kept, part])
    if (kept.length === count) {
      const whole = kept
      kept = Buffer.alloc(0)
      step = reader.next(whole)
    }
    return chunk.subarray(skipped + part.length)
  }

  return {
    push(chunk) {
      let rest = chunk
      while (rest.length > 0 && !step.done) rest = take(rest, step.value)
    },
    end() {
      while (!step.done) {
        step = reader.next(kept)
        kept = Buffer.alloc(0)
      }
      return step.value
    },
  }
}
