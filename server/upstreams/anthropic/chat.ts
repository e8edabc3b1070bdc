/** Chat completions over a messages-native upstream: one translator, named by its two ends. */
import { createChatBody } from '../../dialects/chat-over-messages/body.ts'
import { translateChatRequest } from '../../dialects/chat-over-messages/request.ts'
import { createChatStream } from '../../dialects/chat-over-messages/stream.ts'
import { randomText } from '../../lib/ids.ts'
import { member } from '../../lib/json.ts'
import { isDocument } from '../read-json.ts'
import type { UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { messagesAnswerHeaders, messagesRefusal } from './messages.ts'
import { buildMessagesRequest, readMessagesFailure } from './request.ts'
import { type AnthropicSettings, readMessagesQuirks } from './settings.ts'

export async function chat(
  wire: Wire,
  { settings, upstreamModel, request }: UpstreamCall<AnthropicSettings>,
): Promise<UpstreamAnswer> {
  const { stream, model, value } = request
  const quirks = readMessagesQuirks(settings)
  const body = translateChatRequest(value, { upstreamModel, stream, quirks })
  const response = await wire.send(
    buildMessagesRequest(settings, { ...request, headers: {} }, body),
  )
  if (response.status >= 400 || (stream && isDocument(response))) {
    throw await readMessagesFailure(response)
  }
  const options = {
    id: `chatcmpl-${randomText(24)}`,
    model,
    created: request.createdAtSeconds,
    includeUsage: member(value.stream_options, 'include_usage') === true,
    inputTokensEstimate: request.estimateInputTokens(),
  }
  return {
    status: 200,
    headers: messagesAnswerHeaders(stream),
    body: response.body,
    relay: stream ? createChatStream(options) : createChatBody(options),
    stream,
    stopsOnCancel: settings.stops_on_cancel,
    refusal: messagesRefusal,
  }
}
