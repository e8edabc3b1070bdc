/** The operations whose requests and answers pass unchanged except for the model. */

import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { readChatUsage } from '../../dialects/chat/read-usage.ts'
import { InvalidRequest } from '../../dialects/invalid-request.ts'
import { isStatedError, UPSTREAM_ERROR } from '../../dialects/reported-error.ts'
import { readResponseBody } from '../../dialects/responses/read-response.ts'
import {
  contentTypeOfAnswer,
  readAudioFormat,
  wantsEvents,
} from '../../dialects/synthesis/formats.ts'
import { createAudioEventTap, createAudioTap } from '../../dialects/synthesis/tap.ts'
import { type BodyReading, createBodyTap } from '../../dialects/tap.ts'
import { readFirstCount } from '../../dialects/usage/read-count.ts'
import { answerImages } from '../answer-images.ts'
import { isCalledText, isDocument } from '../read-json.ts'
import type { UpstreamAnswer } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { answerCall, type Call, forward, sendBody, spliceModel } from './forward.ts'
import { readCompatibleFailure } from './read-failure.ts'
import { readChatUsageOptions } from './read-usage-options.ts'
import { buildCompatibleRequest } from './request.ts'

/** The operations of this file by their names. */
export const PASSED = {
  compaction,
  embedding: forward({ path: '/embeddings', read: readEmbeddingBody }),
  image,
  /** docs/protocols/openai.md#moderations */
  moderation: forward({ path: '/moderations', read: readModerationBody }),
  synthesis,
}

/**
 * Compacts (docs/protocols/openai.md#responses). Rejects for a channel that translates: what it
 * compacted could not be read again.
 */
async function compaction(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  if (call.settings.responses === 'translate') {
    const advice = 'ask for a summary with POST /v1/responses'
    throw new InvalidRequest('model', `this model does not compact conversations: ${advice}`)
  }
  const response = await sendBody(wire, call, '/responses/compact', false)
  const usage = readChatUsageOptions(call.request.value, call.upstreamModel)
  const relay = createBodyTap((document) => readResponseBody(document, usage))
  return answerCall(call, response, relay, false)
}

/** Generates images; the vendor refuses unsupported requests. */
async function image(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  const response = await sendBody(wire, call, '/images/generations')
  const answer = answerImages(response, call.request)
  return { ...answer, stopsOnCancel: call.settings.stops_on_cancel }
}

/** Speaks a text: the bytes of the answer pass, too. */
async function synthesis(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  const { settings, upstreamModel, request } = call
  const body = spliceModel(request, upstreamModel)
  const sent = buildCompatibleRequest(settings, '/audio/speech', body, true)
  const response = await wire.send({ ...sent, headers: { ...sent.headers, accept: '*/*' } })
  if (response.status >= 400 || isDocument(response))
    throw await readCompatibleFailure(response, request.value)
  const events = wantsEvents(request.value)
  const relay = events
    ? createAudioEventTap()
    : createAudioTap(readAudioFormat(request.value), isCalledText(response))
  return {
    ...answerCall(call, response, relay, true),
    headers: { 'content-type': contentTypeOfAnswer(request.value) },
    cutsWhenBroken: !events,
  }
}

/** Reads the prompt tokens, which are all that an embedding is billed by. */
function readEmbeddingBody(document: unknown): BodyReading {
  if (!isObject(document) || isStatedError(document.error)) return readRefused(document)
  const { data } = document
  const reading = readChatUsage(withPrompt(document))
  if (!Array.isArray(data) || !data.some((entry) => isEmbedding(member(entry, 'embedding')))) {
    return { ...reading, outputBytes: 0, error: UPSTREAM_ERROR }
  }
  return { ...reading, outputBytes: data.length }
}

/** Numbers, or their bytes in base64. */
function isEmbedding(value: unknown): boolean {
  return typeof value === 'string' || Array.isArray(value)
}

/** Uses the total as the prompt if a vendor states only the total, since there is no output. */
function withPrompt(document: JsonObject): JsonObject {
  const { usage } = document
  if (!isObject(usage)) return document
  const { prompt_tokens: prompt, input_tokens: input, total_tokens: total } = usage
  if (readFirstCount(prompt, input) > 0) return document
  return { ...document, usage: { ...usage, prompt_tokens: total ?? prompt ?? input } }
}

/** An answer is one call; some vendors state its input tokens too. */
function readModerationBody(document: unknown): BodyReading {
  if (!isObject(document) || isStatedError(document.error)) return readRefused(document)
  const { results } = document
  if (!Array.isArray(results) || results.length === 0 || !results.every(isObject)) {
    return { outputBytes: 0, error: UPSTREAM_ERROR }
  }
  const { usage, ...reading } = readChatUsage(document)
  return { ...reading, usage: { ...usage, call: 1 }, outputBytes: results.length }
}

/** Reads an error in place of an answer. */
function readRefused(document: unknown): BodyReading {
  const message = asString(member(member(document, 'error'), 'message')) ?? UPSTREAM_ERROR.message
  return { outputBytes: 0, error: { type: 'server_error', message } }
}
