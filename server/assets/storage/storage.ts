/**
 * Where the bytes of files and media lie: what every kind of storage offers, and the meter through
 * which everything is written. A key is drawn first, so that it can be noted before it is used.
 */
import { createHash } from 'node:crypto'
import { type Readable, Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Enough for every type that is recognised, and for the size of most pictures. */
const HEAD_BYTES = 64 * 1024

export class TooManyBytes extends Error {}

/** Storage is full or away: nothing that the owner of the content did. */
export class StorageTrouble extends Error {}

/** Both ends are included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface Written {
  readonly bytes: number
  /** The beginning, from which the type is recognised. */
  readonly head: Buffer
  readonly sha256: Buffer
}

export interface Storage {
  /** Without any text of a user in it. */
  newKey(): string
  /**
   * Writes the whole content under a fresh key. Throws TooManyBytes, StorageTrouble, and whatever
   * the content's own stream throws.
   */
  write(key: string, content: Readable, limitBytes: number): Promise<Written>
  /** Rejects when there is no such content. */
  read(key: string, range?: ByteRange): Promise<Readable>
  /** Removes content and whatever an unfinished write left of it; nothing there is no error. */
  remove(key: string): Promise<void>
}

export interface Meter {
  /** Fails with TooManyBytes as soon as there are more than the limit. */
  readonly stream: Transform
  readonly written: () => Written
}

/** A stream that counts, hashes and keeps the beginning. */
export function createMeter(limitBytes: number): Meter {
  const hash = createHash('sha256')
  const beginning: Buffer[] = []
  let kept = 0
  let bytes = 0
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > limitBytes) {
        done(new TooManyBytes())
        return
      }
      if (kept < HEAD_BYTES) {
        const piece = Buffer.from(chunk.subarray(0, HEAD_BYTES - kept))
        kept += piece.length
        beginning.push(piece)
      }
      hash.update(chunk)
      done(null, chunk)
    },
  })
  return {
    stream,
    written: () => ({ bytes, head: Buffer.concat(beginning), sha256: hash.digest() }),
  }
}

/** What writing would say, of content that is not kept. Throws TooManyBytes. */
export async function measure(content: Readable, limitBytes: number): Promise<Written> {
  const meter = createMeter(limitBytes)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  await pipeline(content, meter.stream, nowhere)
  return meter.written()
}
