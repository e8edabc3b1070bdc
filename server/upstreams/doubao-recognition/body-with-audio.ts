/** A body with a recording as base64, made while it is sent: it is never whole in memory. */
import { Readable } from 'node:stream'
import type { JsonObject } from '../../lib/json.ts'
import type { RequestFile } from '../upstream.ts'

/** Three bytes are four characters: pieces of this length need no padding between them. */
const PIECE_BYTES = 3 * 16 * 1024

/** `bytes` is the Content-Length. */
export function openBody(
  { audio, request }: { readonly audio: JsonObject; readonly request: JsonObject },
  file: RequestFile,
): { readonly bytes: number; readonly content: Readable } {
  const document = JSON.stringify({ request, audio: { ...audio, data: '' } })
  // The data stand last: what follows them is the quote and the two braces.
  const head = Buffer.from(document.slice(0, -3))
  const tail = Buffer.from(document.slice(-3))
  const content = Readable.from(pieces(head, file, tail), { objectMode: false })
  return { bytes: head.length + 4 * Math.ceil(file.bytes / 3) + tail.length, content }
}

async function* pieces(head: Buffer, file: RequestFile, tail: Buffer): AsyncGenerator<Buffer> {
  yield head
  const piece = Buffer.alloc(PIECE_BYTES)
  for (let position = 0; position < file.bytes; ) {
    const count = await fill(piece, file, position)
    position += count
    yield Buffer.from(piece.toString('base64', 0, count))
  }
  yield tail
}

/** A short read would put padding into the middle. */
async function fill(piece: Buffer, file: RequestFile, position: number): Promise<number> {
  const wanted = Math.min(piece.length, file.bytes - position)
  for (let had = 0; had < wanted; ) {
    const count = await file.read(piece.subarray(had, wanted), position + had)
    if (count === 0) throw new Error('the file ended early')
    had += count
  }
  return wanted
}
