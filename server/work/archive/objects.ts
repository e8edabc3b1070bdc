/** Objects of an archive: text, compressed by zstd; by gzip before. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { constants, createZstdDecompress, gunzip, zstdCompress, zstdDecompress } from 'node:zlib'
import { OperatorError } from '../../base/lib/operator-error.ts'
import type { ArchivedObject } from '../../money/ledger/books/chain-source.ts'
import type { Blobs } from '../assets/storage/blobs.ts'

const compress = promisify(zstdCompress)
const unpackZstd = promisify(zstdDecompress)
const unpackGzip = promisify(gunzip)
/** Objects are large: reading one in the usual chunks of 16 KB takes twice as long. */
const CHUNK_BYTES = 1_048_576
/** The usual level 3 makes rows no smaller, but takes twice as long. */
const PACKING = {
  chunkSize: CHUNK_BYTES,
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
}
const GZIP = 0x1f8b

export type ReadContent = Pick<Blobs, 'read'>

export interface WrittenObject extends ArchivedObject {
  readonly bytes: number
}

export function sha256Of(bytes: Buffer | string): Buffer {
  return createHash('sha256').update(bytes).digest()
}

/** Writes text as loose content, and returns its digests. */
export async function writeObject(blobs: Blobs, content: Buffer): Promise<WrittenObject> {
  const packed = await compress(content, PACKING)
  const { key, bytes, sha256 } = await blobs.write(Readable.from([packed]), packed.length)
  return { storage_key: key, bytes, sha256, content_sha256: sha256Of(content) }
}

/** Returns the text of an object. Rejects with OperatorError unless it is as stated. */
export async function readObject(storage: ReadContent, stated: ArchivedObject): Promise<string> {
  const content = await readContent(storage, stated)
  if (sha256Of(content).equals(stated.content_sha256)) return content.toString('utf8')
  throw damaged(stated, 'other lines')
}

/** Rejects with OperatorError unless what was written can be read back. */
export async function checkWritten(
  storage: ReadContent,
  object: WrittenObject,
  content: Buffer,
): Promise<void> {
  const packed = await readPacked(storage, object)
  const unpacking = createZstdDecompress({ chunkSize: CHUNK_BYTES })
  unpacking.end(packed)
  let length = 0
  try {
    // Read piece by piece, because collecting garbage as large as the whole content is expensive.
    for await (const piece of unpacking) {
      const end = length + piece.length
      if (!content.subarray(length, end).equals(piece)) throw damaged(object, 'other lines')
      length = end
      freeChunk(piece)
    }
  } catch (error) {
    throw error instanceof OperatorError ? error : damaged(object, UNREADABLE)
  }
  if (length !== content.length) throw damaged(object, 'other lines')
}

/**
 * Frees the memory of a full chunk, to which its stream no longer writes. The engine would only
 * free it at a collection of the whole heap.
 */
function freeChunk({ buffer, byteOffset, byteLength }: Buffer<ArrayBuffer>): void {
  const isFull = byteOffset + byteLength === CHUNK_BYTES && buffer.byteLength === CHUNK_BYTES
  if (isFull) buffer.transfer(0)
}

async function readContent(storage: ReadContent, stated: ArchivedObject): Promise<Buffer> {
  const packed = await readPacked(storage, stated)
  const unpack = packed.readUInt16BE(0) === GZIP ? unpackGzip : unpackZstd
  const content = await unpack(packed, { chunkSize: CHUNK_BYTES }).catch(() => undefined)
  if (!content) throw damaged(stated, UNREADABLE)
  return content
}

async function readPacked(storage: ReadContent, stated: ArchivedObject): Promise<Buffer> {
  const packed = await readBytes(storage, stated.storage_key)
  if (sha256Of(packed).equals(stated.sha256)) return packed
  throw damaged(stated, 'its SHA-256 differs')
}

const UNREADABLE = 'it cannot be unpacked'

function damaged({ storage_key }: ArchivedObject, why: string): OperatorError {
  return new OperatorError(`object ${storage_key} of the archive is damaged: ${why}`)
}

/** Returns the bytes under a key. Rejects with OperatorError if they cannot be read. */
export async function readBytes(storage: ReadContent, key: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of await storage.read(key)) chunks.push(Buffer.from(chunk))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new OperatorError(`object ${key} of the archive cannot be read: ${why}`, { cause })
  }
  return Buffer.concat(chunks)
}
