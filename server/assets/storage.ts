/** Bytes on the local disk under DATA_DIR: written aside, synced, and renamed when complete. */
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { randomText } from '../lib/ids.ts'

/** Enough for every type that is recognised. */
const HEAD_BYTES = 64
const KEY = /^[A-Za-z0-9]{32}$/

export class TooManyBytes extends Error {}

export interface Written {
  readonly key: string
  readonly bytes: number
  /** The first bytes, from which the type is recognised. */
  readonly head: Buffer
}

export interface Storage {
  /** Throws TooManyBytes, and whatever the stream or the disk throws; then nothing stays. */
  write(content: Readable, limitBytes: number): Promise<Written>
  /** Both ends are included. The stream fails when there is no such content. */
  read(key: string, range?: { readonly start: number; readonly end: number }): Readable
  /** Content that is not there is no error. */
  remove(key: string): Promise<void>
}

export function createDiskStorage(folder: string): Storage {
  const pathOf = (key: string): string => {
    if (!KEY.test(key)) throw new Error('not a storage key')
    return join(folder, key.slice(0, 2), key)
  }
  return {
    async write(content, limitBytes) {
      const key = randomText(32)
      const path = pathOf(key)
      const aside = `${path}.part`
      await mkdir(join(folder, key.slice(0, 2)), { recursive: true, mode: 0o700 })
      const measure = createMeasure(limitBytes)
      try {
        const target = createWriteStream(aside, { mode: 0o600 })
        await pipeline(content, measure.stream, target)
        await sync(aside)
        await rename(aside, path)
      } catch (error) {
        await rm(aside, { force: true })
        throw error
      }
      return { key, bytes: measure.bytes(), head: measure.head() }
    },
    read: (key, range) => createReadStream(pathOf(key), range),
    remove: (key) => rm(pathOf(key), { force: true }),
  }
}

/** A stream that counts, keeps the beginning and refuses to grow beyond the limit. */
function createMeasure(limitBytes: number) {
  let bytes = 0
  let head = Buffer.alloc(0)
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (head.length < HEAD_BYTES) {
        head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)])
      }
      if (bytes > limitBytes) done(new TooManyBytes())
      else done(null, chunk)
    },
  })
  return { stream, bytes: () => bytes, head: () => head }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
