/** Writes the JSON that a form stands for, in pieces: its pictures are megabytes of base64. */
import type { JsonObject } from '../../../base/lib/json.ts'
import { SHARED_BYTES } from '../../../base/lib/queues/loop-share.ts'

/** A file that is written as a data URL: `JSON.stringify` takes 6 ms for each megabyte of one. */
export class DataUrl {
  readonly mediaType: string
  readonly content: Buffer

  constructor(mediaType: string, content: Buffer) {
    this.mediaType = mediaType
    this.content = content
  }
}

/** A multiple of three bytes, so that pieces need no padding between them. */
const PIECE_BYTES = 3 * 256 * 1024

/** Returns the document. Data URLs may be its members, or in lists; other work runs in a pause. */
export async function writeFormJson(
  members: JsonObject,
  pause: () => Promise<void>,
): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (const piece of listPieces(members)) {
    pieces.push(piece)
    if (piece.length >= SHARED_BYTES) await pause()
  }
  return Buffer.concat(pieces)
}

function* listPieces(members: JsonObject): Generator<Buffer> {
  let sign = '{'
  for (const [name, value] of Object.entries(members)) {
    yield Buffer.from(`${sign}${JSON.stringify(name)}:`)
    yield* listValue(value)
    sign = ','
  }
  yield Buffer.from(sign === '{' ? '{}' : '}')
}

function* listValue(value: unknown): Generator<Buffer> {
  if (value instanceof DataUrl) yield* listDataUrl(value)
  else if (!Array.isArray(value)) yield Buffer.from(JSON.stringify(value))
  else {
    for (const [index, one] of value.entries()) {
      yield Buffer.from(index === 0 ? '[' : ',')
      yield* listValue(one)
    }
    yield Buffer.from(value.length === 0 ? '[]' : ']')
  }
}

function* listDataUrl({ mediaType, content }: DataUrl): Generator<Buffer> {
  yield Buffer.from(`"data:${mediaType};base64,`)
  for (let at = 0; at < content.length; at += PIECE_BYTES) {
    yield Buffer.from(content.toString('base64', at, at + PIECE_BYTES), 'latin1')
  }
  yield Buffer.from('"')
}
