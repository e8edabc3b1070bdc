/** Embeddings: the model is replaced, all else passes; the answer states the usage. */
import { readChatUsage } from '../../dialects/chat/read-usage.ts'
import { UPSTREAM_ERROR } from '../../dialects/reported-error.ts'
import { spliceJson } from '../../dialects/splice.ts'
import { type BodyReading, createBodyTap } from '../../dialects/tap.ts'
import { readFirstCount } from '../../dialects/usage/read-count.ts'
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import type { UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { chatRefusal } from './chat.ts'
import { readCompatibleFailure } from './read-failure.ts'
import { buildCompatibleRequest } from './request.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

export async function embedding(
  wire: Wire,
  { settings, upstreamModel, request }: UpstreamCall<OpenaiCompatibleSettings>,
): Promise<UpstreamAnswer> {
  const set = { model: JSON.stringify(upstreamModel) }
  const body = spliceJson(request.body, request.fields, { set })
  const response = await wire.send(buildCompatibleRequest(settings, '/embeddings', body, false))
  if (response.status >= 400) throw await readCompatibleFailure(response, request.value)
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: response.body,
    relay: createBodyTap(readEmbeddingBody),
    stream: false,
    refusal: chatRefusal,
  }
}

/** Reads the prompt tokens, which are all that an embedding is billed by. */
function readEmbeddingBody(document: unknown): BodyReading {
  const error = member(document, 'error')
  if (!isObject(document) || error) {
    const message = asString(member(error, 'message')) ?? 'upstream provider error'
    return { outputBytes: 0, error: { type: 'server_error', message } }
  }
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

/** Takes the total for the prompt where a vendor states the total alone: there is no output. */
function withPrompt(document: JsonObject): JsonObject {
  const { usage } = document
  if (!isObject(usage)) return document
  const { prompt_tokens: prompt, input_tokens: input, total_tokens: total } = usage
  if (readFirstCount(prompt, input) > 0) return document
  return { ...document, usage: { ...usage, prompt_tokens: total ?? prompt ?? input } }
}
