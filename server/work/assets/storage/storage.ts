/**
 * The interface of every storage of files and media, and the meter through which all content is
 * written. The key is created before the write, so that it can be recorded first.
 */
import { createHash } from 'node:crypto'
import { type Readable, Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Enough to recognise every known type and to read the size of most pictures. */
const HEAD_BYTES = 64 * 1024

export class TooManyBytes extends Error {}

/** Storage is full or unavailable, through no fault of the content's owner. */
export class StorageUnavailable extends Error {}

/** Content that is missing from its storage although the storage itself is available. */
export class ContentMissing extends Error {}

/** A range of bytes, both ends inclusive. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface Written {
  readonly bytes: number
  /** The first bytes, for recognising the type. */
  readonly head: Buffer
  readonly sha256: Buffer
}

export interface Storage {
  /** Returns a random key; it never contains a user's text. */
  newKey(): string
  /**
   * Writes the whole content under a new key. Rejects with TooManyBytes, StorageUnavailable, or the
   * error of the content's own stream.
   */
  write(key: string, content: Readable, limitBytes: number): Promise<Written>
  /** Opens content for reading. Rejects with ContentMissing when it does not exist. */
  read(key: string, range?: ByteRange): Promise<Readable>
  /** Lists the keys of all content, in pages. Content that is being written may be among them. */
  list(): AsyncIterable<readonly string[]>
  /** Removes content and the rest of an unfinished write. Missing content is no error. */
  remove(key: string): Promise<void>
}

export interface Meter {
  /** Fails with TooManyBytes as soon as the limit is exceeded. */
  readonly stream: Transform
  readonly written: () => Written
}

/** Returns a stream that counts and hashes bytes and keeps the head. */
export function createMeter(limitBytes: number): Meter {
  const hash = createHash('sha256')
  const head: Buffer[] = []
  let headBytes = 0
  let bytes = 0
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > limitBytes) {
        done(new TooManyBytes())
        return
      }
      if (headBytes < HEAD_BYTES) {
        const piece = Buffer.from(chunk.subarray(0, HEAD_BYTES - headBytes))
        headBytes += piece.length
        head.push(piece)
      }
      hash.update(chunk)
      done(null, chunk)
    },
  })
  return {
    stream,
    written: () => ({ bytes, head: Buffer.concat(head), sha256: hash.digest() }),
  }
}

/** Measures and discards content as `write` would. Rejects with TooManyBytes. */
export async function measure(content: Readable, limitBytes: number): Promise<Written> {
  const meter = createMeter(limitBytes)
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() })
  await pipeline(content, meter.stream, discard)
  return meter.written()
}
