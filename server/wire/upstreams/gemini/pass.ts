/** The vendor's own format at both ends: the body passes as bytes, and so does the answer. */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { stringifyWellFormed } from '../../../base/lib/text/well-formed.ts'
import { billsQueries } from '../../dialects/contents/generation.ts'
import { createContentsBodyTap, createContentsTap } from '../../dialects/contents/tap.ts'
import { InvalidRequest } from '../../dialects/invalid-request.ts'
import { UPSTREAM_ERROR } from '../../dialects/reported-error.ts'
import { spliceJson } from '../../dialects/splice.ts'
import { type BodyReading, createBodyTap } from '../../dialects/tap.ts'
import { readCount } from '../../dialects/usage/read-count.ts'
import type { CallAdapter } from '../upstream.ts'
import { readGeneration } from './generation.ts'
import { readServedHeader, sendToGemini } from './send.ts'
import { answerGemini } from './serve.ts'
import type { GeminiSettings } from './settings.ts'

/** Members that the endpoint read from the path. */
const FROM_PATH = ['model', 'stream', 'alt']

export const passContents: CallAdapter<GeminiSettings> = async (wire, call) => {
  const { settings, upstreamModel, request } = call
  const { stream, value, body, fields } = request
  const tier = settings.service_account ? asString(value.serviceTier) : undefined
  const remove = tier === undefined ? FROM_PATH : [...FROM_PATH, 'serviceTier']
  const response = await sendToGemini(wire, {
    settings,
    upstreamModel,
    method: stream ? 'streamGenerateContent' : 'generateContent',
    body: spliceJson(body, fields, { remove }),
    tier,
    value,
  })
  const usage = {
    billsQueries: billsQueries(readGeneration(upstreamModel)),
    servedTier: readServedHeader(response),
  }
  const isList = stream && value.alt !== 'sse'
  const relay = stream ? createContentsTap({ ...usage, isList }) : createContentsBodyTap(usage)
  const answer = answerGemini(call, response, relay, [])
  return isList ? { ...answer, headers: { 'content-type': 'application/json' } } : answer
}

/** Throws for a list at Vertex AI, which takes one text in a request. */
export const passEmbedding: CallAdapter<GeminiSettings> = async (wire, call) => {
  const { settings, upstreamModel, request } = call
  const { value, body, fields } = request
  const { requests } = value
  const isBatch = Array.isArray(requests)
  if (isBatch && settings.service_account) {
    throw new InvalidRequest('requests', 'this model takes one text: use :embedContent')
  }
  const model = `models/${upstreamModel}`
  const named = isBatch && requests.map((one) => (isObject(one) ? { ...one, model } : one))
  const response = await sendToGemini(wire, {
    settings,
    upstreamModel,
    method: isBatch ? 'batchEmbedContents' : 'embedContent',
    body: spliceJson(body, fields, {
      remove: FROM_PATH,
      ...(named ? { set: { requests: stringifyWellFormed(named) } } : {}),
    }),
    value,
  })
  return answerGemini(call, response, createBodyTap(readEmbeddings), [])
}

/** Most answers state no usage. */
function readEmbeddings(document: unknown): BodyReading {
  const { embeddings, embedding } = isObject(document) ? document : ({} as JsonObject)
  const list: readonly unknown[] = Array.isArray(embeddings) ? embeddings : [embedding]
  const prompt = readCount(member(member(document, 'usageMetadata'), 'promptTokenCount'))
  const usage = prompt === undefined ? {} : { usage: { input_token: prompt } }
  if (list.every((one) => Array.isArray(member(one, 'values')))) {
    return { ...usage, outputBytes: list.length }
  }
  return { ...usage, outputBytes: 0, error: UPSTREAM_ERROR }
}
