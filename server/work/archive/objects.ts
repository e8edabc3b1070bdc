/** Objects of an archive: JSON by lines, compressed by gzip. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { OperatorError } from '../../base/lib/operator-error.ts'
import type { ArchivedObject } from '../../money/ledger/books/chain-source.ts'
import type { Blobs } from '../assets/storage/blobs.ts'

const compress = promisify(gzip)
const decompress = promisify(gunzip)
/** Objects are large: in the chunks of 16 KB that are usual, reading one takes twice as long. */
const CHUNK_BYTES = 1_048_576

export type ReadContent = Pick<Blobs, 'read'>

export interface WrittenObject extends ArchivedObject {
  readonly bytes: number
}

export function sha256Of(bytes: Buffer | string): Buffer {
  return createHash('sha256').update(bytes).digest()
}

/** Writes text as loose content, and returns its digests. */
export async function writeObject(blobs: Blobs, text: string): Promise<WrittenObject> {
  const content = Buffer.from(text)
  const packed = await compress(content)
  const { key, bytes, sha256 } = await blobs.write(Readable.from([packed]), packed.length)
  return { storage_key: key, bytes, sha256, content_sha256: sha256Of(content) }
}

/** Returns the text of an object. Rejects with OperatorError unless it is as stated. */
export async function readObject(storage: ReadContent, stated: ArchivedObject): Promise<string> {
  const packed = await readBytes(storage, stated.storage_key)
  const damaged = (why: string) =>
    new OperatorError(`object ${stated.storage_key} of the archive is damaged: ${why}`)
  if (!sha256Of(packed).equals(stated.sha256)) throw damaged('its SHA-256 differs')
  const text = await decompress(packed, { chunkSize: CHUNK_BYTES }).catch(() => undefined)
  if (!text) throw damaged('it is not gzip')
  if (!sha256Of(text).equals(stated.content_sha256)) throw damaged('other lines')
  return text.toString('utf8')
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

/** Splits the text of an object into lines. */
export function splitLines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}
