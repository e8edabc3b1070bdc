/** Reads a vendor's JSON answer whole. */
import { detectPacking, unpackBytes } from '../../base/lib/detect-packed.ts'
import { asString, isObject, type JsonObject, tryParseJson } from '../../base/lib/json.ts'
import { SHARED_BYTES } from '../../base/lib/queues/loop-share.ts'
import { UpstreamFailure } from './failure.ts'
import type { WireResponse } from './wire.ts'

/** Returns true for a JSON content type: in place of a stream, such an answer holds an error. */
export function isDocument({ headers }: WireResponse): boolean {
  return /^application\/json\b/i.test(asString(headers['content-type']) ?? '')
}

/** Returns true for an answer whose content type is that of plain text, subtitles or events. */
export function isCalledText({ headers }: WireResponse): boolean {
  const type = asString(headers['content-type']) ?? ''
  return /^text\/(?!html\b)|^application\/x-subrip\b/i.test(type)
}

/** Returns true for an answer whose content type is that of events. */
export function isCalledEvents({ headers }: WireResponse): boolean {
  return /^text\/event-stream\b/i.test(asString(headers['content-type']) ?? '')
}

const ANSWER_BYTES_MAX = 8 * 1024 * 1024
/** The bytes, and what they are parsed to, or were compressed to. */
const WHOLE_FACTOR = 2
/** The longest time that a large answer waits for its share of memory. */
const ROOM_WAIT_MS = 20_000
const TOO_MUCH = 'the answers to this account that are read here are too large together'

/**
 * Returns the object. Throws `unknown` for a body that breaks off, is too large or is something
 * else.
 */
export async function readJsonAnswer(response: WireResponse): Promise<JsonObject> {
  const document = await readJsonDocument(response, ANSWER_BYTES_MAX)
  if (isObject(document)) return document
  const type = asString(response.headers['content-type'])
  throw new UpstreamFailure('unknown', {
    status: response.status,
    message: `the answer is not a JSON object (${type ?? 'no content type'})`,
  })
}

/**
 * Returns any JSON; undefined for other text. Throws `unknown` for a body that is cut, too large or
 * without room in memory.
 */
export async function readJsonDocument(response: WireResponse, bytesMax: number): Promise<unknown> {
  const { room } = response
  const portion = room?.memory.bytes.portion(room.account, 'whole')
  // The room is taken all at once: answers that each hold part of it would wait for each other for
  // ever.
  const takeRoom = async () => {
    if (!portion || portion.amount > 0) return
    const amount = bytesMax * WHOLE_FACTOR
    if (!(await portion.growSoon(amount, ROOM_WAIT_MS))) throw portion.refuse(amount, TOO_MUCH)
  }
  try {
    const packed = await readWhole(response.body, bytesMax, takeRoom)
    const bytes = await unpack(packed, bytesMax, takeRoom)
    if (bytes.length >= SHARED_BYTES) await room?.memory.loop.turn(room.account)
    return tryParseJson(bytes)
  } finally {
    portion?.release()
  }
}

type TakeRoom = () => Promise<void>

async function readWhole(
  body: WireResponse['body'],
  bytesMax: number,
  takeRoom: TakeRoom,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > bytesMax) throw new Error('the answer is too large')
      if (size >= SHARED_BYTES) await takeRoom()
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } catch (cause) {
    body.destroy()
    throw new UpstreamFailure('unknown', { cause, message: 'the answer broke off' })
  }
}

async function unpack(packed: Buffer, bytesMax: number, takeRoom: TakeRoom): Promise<Buffer> {
  try {
    if (detectPacking(packed, true)) await takeRoom()
    return await unpackBytes(packed, bytesMax, true)
  } catch (cause) {
    throw new UpstreamFailure('unknown', { cause, message: 'the answer cannot be decompressed' })
  }
}
