/** Chat completions over a messages-native upstream: one translator, named by its two ends. */

import { randomText } from '../../../base/lib/ids.ts'
import { member } from '../../../base/lib/json.ts'
import { translateChatRequest } from '../../dialects/chat-over-messages/request.ts'
import {
  listCustomTools,
  usesLegacyFunctions,
} from '../../dialects/chat-over-messages/translate-tools.ts'
import { createChatBody, createChatStream } from '../../dialects/chat-over-messages/writer.ts'
import { nameIgnored } from '../ignored-header.ts'
import type { UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { messagesAnswerHeaders, messagesRefusal } from './messages.ts'
import { readMessagesUsageOptions } from './read-usage-options.ts'
import { buildMessagesRequest, readMessagesFailure } from './request.ts'
import { type AnthropicSettings, readMessagesQuirks } from './settings.ts'

export async function chat(
  wire: Wire,
  {
    settings,
    upstreamModel,
    outputTokensMax,
    sellsSearch,
    request,
  }: UpstreamCall<AnthropicSettings>,
): Promise<UpstreamAnswer> {
  const { stream, model, value } = request
  const quirks = readMessagesQuirks(settings, outputTokensMax, sellsSearch)
  const { body, ignored } = translateChatRequest(value, { upstreamModel, stream, quirks })
  const response = await wire.send(
    buildMessagesRequest(settings, { ...request, headers: {} }, body),
  )
  if (response.status >= 400) throw await readMessagesFailure(response, value)
  const options = {
    id: `chatcmpl-${randomText(24)}`,
    model,
    created: request.createdAtSeconds,
    includeUsage: member(value.stream_options, 'include_usage') === true,
    legacyFunctions: usesLegacyFunctions(value),
    customTools: listCustomTools(value),
    inputTokensEstimate: request.estimateInputTokens(),
    usage: readMessagesUsageOptions(value),
  }
  return {
    status: 200,
    headers: { ...messagesAnswerHeaders(stream), ...nameIgnored(ignored) },
    body: response.body,
    relay: stream ? createChatStream(options) : createChatBody(options),
    stream,
    stopsOnCancel: settings.stops_on_cancel,
    refusal: messagesRefusal,
  }
}
