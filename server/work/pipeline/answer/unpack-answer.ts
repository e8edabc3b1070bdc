/**
 * Detects and decompresses answers whose headers do not state a compression, by their first bytes.
 */
import { pipeline, type Readable } from 'node:stream'
import { detectPacking, type Packing, unpackBytes } from '../../../base/lib/detect-packed.ts'
import type { Relay } from '../../../wire/dialects/relay.ts'
import type { UpstreamAnswer } from '../../../wire/upstreams/upstream.ts'
import { type AnswerRoom, ROOM_WAIT_MS, TOO_MUCH } from './receive-whole.ts'

const HEAD_BYTES = 4
/** The highest compression ratio of gzip and deflate. */
const RATIO_MAX = 1_032
const BINARY_BYTES = 512

/** Returns true if the vendor sends text, which never begins with such a signature. */
function isText({ headers, isFramed = false }: UpstreamAnswer): boolean {
  return !isFramed && /json|event-stream|^text\//.test(headers['content-type'] ?? '')
}

/**
 * Throws for data that is not text, such as Brotli, which has control characters and is not UTF-8.
 * A text with a stray control character passes, since the vendor bills it.
 */
function refuseBinary(text: Buffer): void {
  if (!hasControl(text, Math.min(text.length, BINARY_BYTES))) return
  // The last character may be incomplete.
  new TextDecoder('utf-8', { fatal: true }).decode(text.subarray(0, BINARY_BYTES), { stream: true })
}

function hasControl(text: Buffer, end: number): boolean {
  for (let at = 0; at < end; at += 1) {
    const byte = text[at] ?? 0
    if (byte < 0x20 && (byte < 0x09 || byte > 0x0d)) return true
  }
  return false
}

/**
 * Throws or rejects if the bytes cannot be decompressed, or only to more than the room has, and for
 * a text that begins with other data. Chunks that are not compressed are returned at once.
 */
export function unpackWhole(
  chunks: readonly Buffer[],
  room: AnswerRoom,
  answer: UpstreamAnswer,
): readonly Buffer[] | Promise<readonly Buffer[]> {
  const isOfText = isText(answer)
  if (detectPacking(headOf(chunks), isOfText)) return unpackAll(chunks, room, isOfText)
  if (isOfText && chunks[0]) refuseBinary(chunks[0])
  return chunks
}

/** Returns at least the bytes that show how chunks are compressed, if there are that many. */
function headOf(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks
  return first && first.length >= HEAD_BYTES ? first : Buffer.concat(chunks.slice(0, HEAD_BYTES))
}

async function unpackAll(
  chunks: readonly Buffer[],
  room: AnswerRoom,
  isOfText: boolean,
): Promise<readonly Buffer[]> {
  const { account, bytesMax, memory } = room
  const packed = Buffer.concat(chunks)
  const portion = room.takePortion()
  const most = Math.min(bytesMax, packed.length * RATIO_MAX)
  if (!(await portion.growSoon(most, ROOM_WAIT_MS))) throw portion.refuse(most, TOO_MUCH)
  await memory.loop.turn(account)
  let bytes = most
  try {
    const unpacked = await unpackBytes(packed, bytesMax, isOfText)
    bytes = unpacked.length
    if (isOfText) refuseBinary(unpacked)
    return [unpacked]
  } finally {
    portion.shrink(most - bytes)
    memory.loop.count(account, bytes)
  }
}

/** Thrown for a stream that is compressed; `start` are the bytes that were read of it. */
export class PackedStream extends Error {
  readonly packing: Packing
  readonly start: Buffer

  constructor(packing: Packing, start: Buffer) {
    super('the stream is compressed')
    this.packing = packing
    this.start = start
  }
}

/**
 * Returns the relay of an answer behind a detector, which throws PackedStream for a compressed one,
 * and another error for a text that begins with other data. Data that was decompressed here is not
 * decompressed again.
 */
export function detectIn(answer: UpstreamAnswer, isUnpacked = false): Pick<Relay, 'push' | 'end'> {
  const { relay } = answer
  const isOfText = isText(answer)
  let kept: Buffer | undefined
  let isPlain = false
  return {
    push(chunk) {
      if (isPlain) return relay.push(chunk)
      const start = kept ? Buffer.concat([kept, chunk]) : chunk
      const packing = isUnpacked ? undefined : detectPacking(start, isOfText)
      if (packing === 'undecided') {
        kept = start
        return undefined
      }
      if (packing) throw new PackedStream(packing, start)
      kept = undefined
      isPlain = true
      if (isOfText) refuseBinary(start)
      return relay.push(start)
    },
    end() {
      if (kept && isOfText) refuseBinary(kept)
      const first = kept && relay.push(kept)
      const last = relay.end()
      return first && last ? Buffer.concat([first, last]) : (first ?? last)
    },
  }
}

/** Returns the decompressed content of a paused stream, whose start was put back. */
export function unpackStream(body: Readable, { packing }: PackedStream): Readable {
  const decoder = packing.createDecoder()
  pipeline(body, decoder, () => undefined)
  return decoder
}
