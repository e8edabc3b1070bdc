/** A vendor's JSON answer, read whole. */
import { asString, isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import { UpstreamFailure } from './failure.ts'
import type { WireResponse } from './upstream.ts'

/** Whether an answer says that it is a JSON document: where none is wanted, it holds an error. */
export function isDocument({ headers }: WireResponse): boolean {
  return /^application\/json\b/i.test(asString(headers['content-type']) ?? '')
}

const ANSWER_BYTES_MAX = 8 * 1024 * 1024

/** Throws `unknown` when the body breaks off, is too large or is no JSON object. */
export async function readJsonAnswer(response: WireResponse): Promise<JsonObject> {
  const document = await readJsonDocument(response, ANSWER_BYTES_MAX)
  if (isObject(document)) return document
  const type = asString(response.headers['content-type'])
  throw new UpstreamFailure('unknown', {
    status: response.status,
    message: `the answer is no JSON object (${type ?? 'no content type'})`,
  })
}

/** Any JSON, undefined for what is none. Throws `unknown` for a body that is cut or too large. */
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
  return tryParseJson(Buffer.concat(chunks))
}
