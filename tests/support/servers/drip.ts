/** A peer that writes slowly, as slow vendors and slow callers do. */
import type { Writable } from 'node:stream'

/** Writes `next()` every `everyMs` until it returns undefined or the stream is closed. */
export function drip(
  stream: Writable,
  everyMs: number,
  next: () => string | Buffer | undefined,
): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const piece = stream.destroyed ? undefined : next()
      if (piece !== undefined) return void stream.write(piece)
      clearInterval(timer)
      resolve()
    }, everyMs)
  })
}
