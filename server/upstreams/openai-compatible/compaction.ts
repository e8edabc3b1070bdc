/** Compacts: the model is set, all else passes (docs/protocols/openai.md#responses). */
import { InvalidRequest } from '../../dialects/invalid-request.ts'
import { readResponseBody } from '../../dialects/responses/read-response.ts'
import { spliceJson } from '../../dialects/splice.ts'
import { createBodyTap } from '../../dialects/tap.ts'
import type { UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { chatRefusal } from './chat.ts'
import { readCompatibleFailure } from './read-failure.ts'
import { readChatUsageOptions } from './read-usage-options.ts'
import { buildCompatibleRequest } from './request.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

/** Rejects for a channel that translates: what it compacted could not be read again. */
export async function compaction(
  wire: Wire,
  { settings, upstreamModel, request }: UpstreamCall<OpenaiCompatibleSettings>,
): Promise<UpstreamAnswer> {
  if (settings.responses === 'translate') {
    const advice = 'ask for a summary with POST /v1/responses'
    throw new InvalidRequest('model', `this model does not compact conversations: ${advice}`)
  }
  const set = { model: JSON.stringify(upstreamModel) }
  const body = spliceJson(request.body, request.fields, { set })
  const sent = buildCompatibleRequest(settings, '/responses/compact', body, false)
  const response = await wire.send(sent)
  if (response.status >= 400) throw await readCompatibleFailure(response, request.value)
  const usage = readChatUsageOptions(request.value, upstreamModel)
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: response.body,
    relay: createBodyTap((document) => readResponseBody(document, usage)),
    stream: false,
    stopsOnCancel: settings.stops_on_cancel,
    refusal: chatRefusal,
  }
}
