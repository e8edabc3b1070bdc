/** Compares content with what its owner's row states, while it is read. */
import { createHash } from 'node:crypto'
import { pipeline, type Readable, Transform } from 'node:stream'
import type { ByteRange } from './storage.ts'

export interface StatedContent {
  readonly key: string
  readonly bytes: number
  /** Null if none was stored. */
  readonly sha256: Buffer | null
}

/**
 * `lost`: it does not exist. `cut`: it has too few or too many bytes. `damaged`: its bytes differ.
 */
export type ContentFault = 'lost' | 'cut' | 'damaged'

/**
 * Returns a stream of the same bytes that fails before the last of them if they are not as stated.
 * `report` is called first; a storage that breaks off does not count as a fault of the content.
 */
export function checkContent(
  content: Readable,
  { bytes, sha256 }: StatedContent,
  range: ByteRange | undefined,
  report: (fault: ContentFault, error: Error) => void,
): Readable {
  const { start, end } = range ?? { start: 0, end: bytes - 1 }
  const expected = Math.min(end, bytes - 1) - start + 1
  const hash = sha256 && expected === bytes ? createHash('sha256') : undefined
  let count = 0
  let last: Buffer | undefined

  function fail(fault: ContentFault, message: string): Error {
    const error = new Error(`stored content is not as it was written: ${message}`)
    report(fault, error)
    return error
  }

  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      count += chunk.length
      if (count > expected) return done(fail('cut', `more than ${expected} bytes`))
      hash?.update(chunk)
      // The last chunk waits for the verdict on all of them.
      if (last) this.push(last)
      last = chunk
      done()
    },
    flush(done) {
      if (count < expected) return done(fail('cut', `${count} of ${expected} bytes`))
      if (hash && sha256 && !hash.digest().equals(sha256)) {
        return done(fail('damaged', 'its SHA-256 differs'))
      }
      done(null, last)
    },
  })
  // Its errors reach the reader of the result.
  pipeline(content, checked, () => undefined)
  return checked
}
