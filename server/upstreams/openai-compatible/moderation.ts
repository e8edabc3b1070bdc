/** Moderations: the model is set, all else passes (docs/protocols/openai.md#moderations). */
import { readChatUsage } from '../../dialects/chat/read-usage.ts'
import { UPSTREAM_ERROR } from '../../dialects/reported-error.ts'
import { spliceJson } from '../../dialects/splice.ts'
import { type BodyReading, createBodyTap } from '../../dialects/tap.ts'
import { asString, isObject, member } from '../../lib/json.ts'
import type { UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { chatRefusal } from './chat.ts'
import { readCompatibleFailure } from './read-failure.ts'
import { buildCompatibleRequest } from './request.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

export async function moderation(
  wire: Wire,
  { settings, upstreamModel, request }: UpstreamCall<OpenaiCompatibleSettings>,
): Promise<UpstreamAnswer> {
  const set = { model: JSON.stringify(upstreamModel) }
  const body = spliceJson(request.body, request.fields, { set })
  const response = await wire.send(buildCompatibleRequest(settings, '/moderations', body, false))
  if (response.status >= 400) throw await readCompatibleFailure(response, request.value)
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: response.body,
    relay: createBodyTap(readModerationBody),
    stream: false,
    refusal: chatRefusal,
  }
}

/** An answer is one call; some vendors state its input tokens too. */
function readModerationBody(document: unknown): BodyReading {
  const error = member(document, 'error')
  if (!isObject(document) || error) {
    const message = asString(member(error, 'message')) ?? 'upstream provider error'
    return { outputBytes: 0, error: { type: 'server_error', message } }
  }
  const { results } = document
  if (!Array.isArray(results) || results.length === 0 || !results.every(isObject)) {
    return { outputBytes: 0, error: UPSTREAM_ERROR }
  }
  const { usage, ...reading } = readChatUsage(document)
  return { ...reading, usage: { ...usage, call: 1 }, outputBytes: results.length }
}
