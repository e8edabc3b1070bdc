/** Converts whole answers to streams, for callers who requested one. */
import type { Relay } from './relay.ts'

/** Collects a body and returns what `unfold` makes of it once it is whole. */
export function createUnfolder(unfold: (body: Buffer) => string): Relay {
  const chunks: Buffer[] = []
  let bytes = 0
  return {
    push(chunk) {
      chunks.push(chunk)
      bytes += chunk.length
      return undefined
    },
    end: () => Buffer.from(unfold(Buffer.concat(chunks))),
    fail: () => undefined,
    report: () => ({ outputBytes: 0, finished: true }),
    heldBytes: () => bytes,
  }
}
