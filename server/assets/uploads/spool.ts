/**
 * Files of requests, on disk for as long as their call lasts. A file has no name from its first
 * byte on: whatever ends this process, the system takes it back.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { GatewayError } from '../../lib/errors.ts'
import { randomText } from '../../lib/ids.ts'

/** Of all calls together. */
const TOTAL_BYTES_MAX = 8 * 1024 ** 3
const RETRY_SECONDS = 5
const PIECE_BYTES = 64 * 1024

/** Looks at content as it arrives, and says at its end which part of it counts. */
export interface Inspector {
  push(chunk: Buffer): void
  end(): { readonly start: number; readonly bytes: number; readonly seconds?: number }
}

export interface SpoolFile {
  /** Of the part that counts. */
  readonly bytes: number
  /** As the inspector measured it. */
  readonly seconds?: number
  /** Of the whole file. */
  readonly sha256: Buffer
  /** Reads up to the buffer's length from `position` of the part that counts; 0 at its end. */
  read(buffer: Uint8Array, position: number): Promise<number>
  close(): Promise<void>
}

export interface Spool {
  /**
   * Writes content to its end. Throws GatewayError: 400 when it breaks off, 413 when it is larger
   * than `bytesMax`, 503 without room for it; and what the inspector throws.
   */
  take(content: Readable, bytesMax: number, inspector: Inspector): Promise<SpoolFile>
}

export function createSpool(folder: string): Spool {
  let total = 0

  async function write(handle: FileHandle, content: Readable, limit: Limit) {
    const hash = createHash('sha256')
    for await (const chunk of readChunks(content)) {
      limit.add(chunk.length)
      limit.inspector.push(chunk)
      hash.update(chunk)
      await handle.appendFile(chunk).catch(refuseDisk)
    }
    return { sha256: hash.digest(), ...limit.inspector.end() }
  }

  return {
    async take(content, bytesMax, inspector) {
      const handle = await openNameless(folder).catch(refuseDisk)
      let bytes = 0
      const add = (more: number) => {
        if (bytes + more > bytesMax) throw tooLarge(bytesMax)
        if (total + more > TOTAL_BYTES_MAX) throw noRoom()
        bytes += more
        total += more
      }
      let isClosed = false
      const close = async () => {
        if (isClosed) return
        isClosed = true
        total -= bytes
        await handle.close()
      }
      try {
        const { start, ...written } = await write(handle, content, { inspector, add })
        return {
          ...written,
          async read(buffer, position) {
            const length = Math.min(buffer.length, Math.max(0, written.bytes - position))
            if (length === 0) return 0
            return (await handle.read(buffer, 0, length, start + position)).bytesRead
          },
          close,
        }
      } catch (error) {
        await close()
        throw error
      }
    },
  }
}

/** The part that counts, as a stream. */
export function readSpooled(file: Pick<SpoolFile, 'bytes' | 'read'>): Readable {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let position = 0; position < file.bytes; ) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES)
      const count = await file.read(piece, position)
      if (count === 0) throw new Error('the file ended early')
      position += count
      yield piece.subarray(0, count)
    }
  }
  return Readable.from(pieces(), { objectMode: false })
}

interface Limit {
  readonly inspector: Inspector
  /** Throws GatewayError. */
  readonly add: (bytes: number) => void
}

async function openNameless(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, randomText(32))
  const handle = await open(path, 'wx+', 0o600)
  await rm(path, { force: true })
  return handle
}

async function* readChunks(content: Readable): AsyncGenerator<Buffer> {
  try {
    yield* content
  } catch (cause) {
    throw new GatewayError('invalid_request', { message: 'the request body was cut off', cause })
  }
}

function refuseDisk(cause: unknown): never {
  throw noRoom(cause)
}

function noRoom(cause?: unknown): GatewayError {
  return new GatewayError('unavailable', { retryAfterSeconds: RETRY_SECONDS, cause })
}

function tooLarge(bytesMax: number): GatewayError {
  const message = `file is larger than ${bytesMax} bytes`
  return new GatewayError('too_large', { message, param: 'file' })
}
