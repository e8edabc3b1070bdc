/**
 * Keeps files of requests on disk while their call lasts. A file is unlinked before its first byte
 * is written, so the system reclaims it however this process ends.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { GatewayError } from '../../lib/errors.ts'
import { randomText } from '../../lib/ids.ts'

/** Limit over all calls together. */
const TOTAL_BYTES_MAX = 8 * 1024 ** 3
const RETRY_SECONDS = 5
const PIECE_BYTES = 64 * 1024

/** Inspects content as it arrives; at its end, states which part of it is the payload. */
export interface Inspector {
  push(chunk: Buffer): void
  end(): Payload & { readonly other?: Payload | Error }
}

interface Payload {
  readonly start: number
  readonly bytes: number
  readonly seconds?: number
}

export interface SpoolPart {
  /** Length of the payload. */
  readonly bytes: number
  /** Duration, as the inspector measured it. */
  readonly seconds?: number
  /** Reads from `position` of the payload into the buffer. Returns 0 at its end. */
  read(buffer: Uint8Array, position: number): Promise<number>
}

export interface SpoolFile extends SpoolPart {
  /** Another payload of the same file, or the reason why there is none. */
  readonly other?: SpoolPart | Error
  /** Digest of the whole file. */
  readonly sha256: Buffer
  close(): Promise<void>
}

export interface Spool {
  /**
   * Writes content to its end. Rejects with GatewayError: 400 when it is cut off, 413 beyond
   * `bytesMax`, 503 without disk space; or with the inspector's error.
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
      const handle = await openUnlinked(folder).catch(refuseDisk)
      let bytes = 0
      const add = (chunkBytes: number) => {
        if (bytes + chunkBytes > bytesMax) throw tooLarge(bytesMax)
        if (total + chunkBytes > TOTAL_BYTES_MAX) throw noSpace()
        bytes += chunkBytes
        total += chunkBytes
      }
      let isClosed = false
      const close = async () => {
        if (isClosed) return
        isClosed = true
        total -= bytes
        await handle.close()
      }
      try {
        const { other, sha256, ...payload } = await write(handle, content, { inspector, add })
        const otherPart = other instanceof Error ? other : other && openPart(handle, other)
        return {
          ...openPart(handle, payload),
          ...(otherPart ? { other: otherPart } : {}),
          sha256,
          close,
        }
      } catch (error) {
        await close()
        throw error
      }
    },
  }
}

function openPart(handle: FileHandle, { start, ...payload }: Payload): SpoolPart {
  return {
    ...payload,
    async read(buffer, position) {
      const length = Math.min(buffer.length, Math.max(0, payload.bytes - position))
      if (length === 0) return 0
      return (await handle.read(buffer, 0, length, start + position)).bytesRead
    },
  }
}

/** Returns the payload as a stream. */
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
  /** Counts bytes. Throws GatewayError beyond a limit. */
  readonly add: (bytes: number) => void
}

async function openUnlinked(folder: string): Promise<FileHandle> {
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
  throw noSpace(cause)
}

function noSpace(cause?: unknown): GatewayError {
  return new GatewayError('unavailable', { retryAfterSeconds: RETRY_SECONDS, cause })
}

function tooLarge(bytesMax: number): GatewayError {
  const message = `file is larger than ${bytesMax} bytes`
  return new GatewayError('too_large', { message, param: 'file' })
}
