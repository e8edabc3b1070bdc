/** Streams a body that contains a recording in base64. The whole body is never in memory. */
import { Readable } from 'node:stream'
import type { JsonObject } from '../../../base/lib/json.ts'
import type { RequestFile } from '../upstream.ts'

/** A multiple of three bytes, so that pieces need no padding between them. */
const PIECE_BYTES = 3 * 16 * 1024

/** Returns the body as a stream, with its Content-Length in `bytes`. */
export function openBody(
  { audio, request }: { readonly audio: JsonObject; readonly request: JsonObject },
  file: RequestFile,
): { readonly bytes: number; readonly content: Readable } {
  const document = JSON.stringify({ request, audio: { ...audio, data: '' } })
  // `data` is the last member: the quote and two braces follow it.
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

/**
 * Reads until the chunk is full: padding after a short read would stand in the middle of the text.
 */
async function fill(piece: Buffer, file: RequestFile, position: number): Promise<number> {
  const length = Math.min(piece.length, file.bytes - position)
  for (let offset = 0; offset < length; ) {
    const count = await file.read(piece.subarray(offset, length), position + offset)
    if (count === 0) throw new Error('the file ended early')
    offset += count
  }
  return length
}
