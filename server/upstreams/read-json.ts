/** Reads a vendor's JSON answer whole. */
import { unpackBytes } from '../lib/detect-packed.ts'
import { asString, isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import { UpstreamFailure } from './failure.ts'
import type { WireResponse } from './wire.ts'

/** Returns true for a JSON content type: in place of a stream, such an answer holds an error. */
export function isDocument({ headers }: WireResponse): boolean {
  return /^application\/json\b/i.test(asString(headers['content-type']) ?? '')
}

/** Returns true for an answer with events, by its content type or else by the request. */
export function isStream(response: WireResponse, isStreamRequested: boolean): boolean {
  const type = asString(response.headers['content-type']) ?? ''
  return /^text\/event-stream\b/i.test(type) || (isStreamRequested && !isDocument(response))
}

const ANSWER_BYTES_MAX = 8 * 1024 * 1024

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

/** Returns any JSON; undefined for other text. Throws `unknown` for a body cut or too large. */
export async function readJsonDocument(response: WireResponse, bytesMax: number): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of response.body) {
      size += chunk.length
      if (size > bytesMax) throw new Error('the answer is too large')
      chunks.push(chunk)
    }
  } catch (cause) {
    response.body.destroy()
    throw new UpstreamFailure('unknown', { cause, message: 'the answer broke off' })
  }
  try {
    return tryParseJson(await unpackBytes(Buffer.concat(chunks), bytesMax, true))
  } catch (cause) {
    throw new UpstreamFailure('unknown', { cause, message: 'the answer cannot be decompressed' })
  }
}
