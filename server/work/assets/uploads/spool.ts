/**
 * Keeps files of requests on disk while their call lasts, within what their account may have there.
 */
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { ReadRange } from '../../../base/lib/media/open-window.ts'
import type { Memory } from '../../../base/lib/memory/memory.ts'
import type { SpillFile } from '../../../base/lib/memory/spill-file.ts'

/** Inspects content as it arrives; at its end, states which part of it is the payload. */
export interface Inspector {
  push(chunk: Buffer): void
  /** `read` reads the whole content. */
  end(read: ReadRange): Inspected | Promise<Inspected>
}

type Inspected = Payload & { readonly other?: Payload | Error }

interface Payload {
  readonly start: number
  readonly bytes: number
  readonly seconds?: number
  readonly fault?: string
}

export interface SpoolPart {
  /** Length of the payload. */
  readonly bytes: number
  /** Duration, as the inspector measured it. */
  readonly seconds?: number
  /** The reason why it could not be measured, which follows the word `file`. */
  readonly fault?: string
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
   * `bytesMax`, 429 beyond the account's share of the disk, 503 without space; or with the
   * inspector's error.
   */
  take(content: Readable, owner: SpoolOptions): Promise<SpoolFile>
}

export interface SpoolOptions {
  readonly accountId: string
  readonly bytesMax: number
  readonly inspector: Inspector
}

export function createSpool({ openFile }: Pick<Memory, 'openFile'>): Spool {
  return {
    async take(content, { accountId, bytesMax, inspector }) {
      const file = await openFile(accountId)
      try {
        const sha256 = await write(file, content, bytesMax, inspector)
        const { other, ...payload } = await inspector.end((start, end) =>
          readRange(file, start, end),
        )
        const otherPart = other instanceof Error ? other : other && openPart(file, other)
        return {
          ...openPart(file, payload),
          other: otherPart,
          sha256,
          close: () => file.close(),
        }
      } catch (error) {
        await file.close()
        throw error
      }
    },
  }
}

/** Returns the digest of what was written. */
async function write(
  file: SpillFile,
  content: Readable,
  bytesMax: number,
  inspector: Inspector,
): Promise<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of readChunks(content)) {
    if (file.bytes + chunk.length > bytesMax) throw tooLarge(bytesMax)
    inspector.push(chunk)
    hash.update(chunk)
    await file.append(chunk)
  }
  return hash.digest()
}

function openPart(file: SpillFile, { start, ...payload }: Payload): SpoolPart {
  return {
    ...payload,
    read(buffer, position) {
      const length = Math.min(buffer.length, Math.max(0, payload.bytes - position))
      return file.read(buffer.subarray(0, length), start + position)
    },
  }
}

async function readRange(file: SpillFile, start: number, end: number): Promise<Buffer> {
  const piece = Buffer.allocUnsafe(end - start + 1)
  return piece.subarray(0, await file.read(piece, start))
}

async function* readChunks(content: Readable): AsyncGenerator<Buffer> {
  try {
    yield* content
  } catch (cause) {
    throw new GatewayError('invalid_request', { message: 'the request body was cut off', cause })
  }
}

function tooLarge(bytesMax: number): GatewayError {
  const message = `file is larger than ${bytesMax} bytes`
  return new GatewayError('too_large', { message, param: 'file' })
}
