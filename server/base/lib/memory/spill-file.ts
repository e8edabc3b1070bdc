/**
 * A file for bytes that must not stay in memory. It is unlinked before its first byte is written,
 * so the system reclaims it however this process ends.
 */
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { GatewayError } from '../errors.ts'
import { randomText } from '../ids.ts'
import type { Portion } from './budget.ts'

const RETRY_SECONDS = 5
const PIECE_BYTES = 64 * 1024
const FULL =
  'this account has too many bytes of requests and answers in progress: wait until some have ended'

/**
 * Keeps references to open files, because Node ends a process if a file is collected while it is
 * open. A forgotten file therefore costs only its account a share of the disk.
 */
const openFiles = new Set<SpillFile>()

export class SpillFile {
  private readonly handle: FileHandle
  private readonly portion: Portion
  private isClosed = false

  private constructor(handle: FileHandle, portion: Portion) {
    this.handle = handle
    this.portion = portion
    openFiles.add(this)
  }

  /** `portion` counts its bytes on disk, and is released with the file. Rejects with 503. */
  static async open(folder: string, portion: Portion): Promise<SpillFile> {
    return new SpillFile(await openUnlinked(folder).catch(refuseDisk), portion)
  }

  get bytes(): number {
    return this.portion.amount
  }

  /** For a process that reads it; valid until the file is closed. */
  get descriptor(): number {
    return this.handle.fd
  }

  /** Rejects with GatewayError: 429 beyond the account's share of the disk, otherwise 503. */
  async append(chunk: Uint8Array): Promise<void> {
    if (!this.portion.grow(chunk.length)) throw this.portion.refuse(chunk.length, FULL)
    await this.handle.appendFile(chunk).catch(refuseDisk)
  }

  /**
   * Reads from `position` into the whole buffer, or up to the end. Returns the bytes read. Rejects
   * with 503.
   */
  async read(buffer: Uint8Array, position: number): Promise<number> {
    let count = 0
    while (count < buffer.length) {
      const at = position + count
      const length = buffer.length - count
      const { bytesRead } = await this.handle.read(buffer, count, length, at).catch(refuseDisk)
      if (bytesRead === 0) break
      count += bytesRead
    }
    return count
  }

  /** Returns all of it in memory. */
  async readAll(): Promise<Buffer> {
    const all = Buffer.allocUnsafeSlow(this.bytes)
    if ((await this.read(all, 0)) < all.length) refuseDisk('the file ended early')
    return all
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    openFiles.delete(this)
    this.portion.release()
    await this.handle.close()
  }
}

/** Returns what can be read by position as a stream, of which one piece is in memory. */
export function readInPieces(file: Pick<SpillFile, 'bytes' | 'read'>): Readable {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let position = 0; position < file.bytes; ) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES)
      const count = await file.read(piece, position)
      if (count === 0) refuseDisk('the file ended early')
      position += count
      yield piece.subarray(0, count)
    }
  }
  return Readable.from(pieces(), { objectMode: false })
}

async function openUnlinked(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, randomText(32))
  const handle = await open(path, 'wx+', 0o600)
  try {
    await rm(path, { force: true })
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

function refuseDisk(cause: unknown): never {
  throw new GatewayError('unavailable', { retryAfterSeconds: RETRY_SECONDS, cause })
}
