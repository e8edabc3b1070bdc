/**
 * Responses over a messages-native upstream: the request is translated to one of chat, and from
 * there to the messages format; the answer is translated at once.
 */

import { randomText } from '../../../base/lib/ids.ts'
import { type ChatQuirks, DEFAULT_CHAT_QUIRKS } from '../../dialects/chat/quirks.ts'
import { translateChatRequest } from '../../dialects/chat-over-messages/request.ts'
import { MessagesReader } from '../../dialects/messages/read-parts.ts'
import { translateAnswer } from '../../dialects/parts/translate-answer.ts'
import { toChatRequest } from '../../dialects/responses-over-chat/request.ts'
import { ResponsesWriter } from '../../dialects/responses-over-chat/writer.ts'
import { UpstreamFailure } from '../failure.ts'
import { nameIgnored } from '../ignored-header.ts'
import type { UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { messagesAnswerHeaders, messagesRefusal } from './messages.ts'
import { readMessagesUsageOptions } from './read-usage-options.ts'
import { buildMessagesRequest, readMessagesFailure } from './request.ts'
import { type AnthropicSettings, readMessagesQuirks } from './settings.ts'

/** The chat request in between leaves nothing out that the messages format can say. */
const IN_BETWEEN: ChatQuirks = {
  ...DEFAULT_CHAT_QUIRKS,
  max_tokens_field: 'max_completion_tokens',
  file_parts: true,
  beforeMessages: true,
  reasoning_efforts: ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  user_field: 'user',
}

export async function responses(
  wire: Wire,
  {
    settings,
    upstreamModel,
    outputTokensMax,
    sellsSearch = false,
    request,
  }: UpstreamCall<AnthropicSettings>,
): Promise<UpstreamAnswer> {
  const { stream, model, value, createdAtSeconds } = request
  const inputTokensEstimate = request.estimateInputTokens()
  const { chat, context, ignored } = toChatRequest(value, {
    upstreamModel,
    stream,
    quirks: { ...IN_BETWEEN, webSearch: sellsSearch },
  })
  const quirks = readMessagesQuirks(settings, outputTokensMax, sellsSearch)
  const translated = translateChatRequest(chat, { upstreamModel, stream, quirks })
  const response = await wire.send(
    buildMessagesRequest(settings, { ...request, headers: {} }, translated.body),
  )
  if (response.status >= 400) throw inOwnForm(await readMessagesFailure(response, value))
  const names = [...ignored, ...translated.ignored.map(toOwnName)]
  const id = `resp_${randomText(24)}`
  const options = { id, createdAtSeconds, model, inputTokensEstimate, context }
  const form = stream ? 'stream' : 'whole'
  const reader = new MessagesReader(readMessagesUsageOptions(chat))
  return {
    status: 200,
    headers: { ...messagesAnswerHeaders(stream), ...nameIgnored(names) },
    body: response.body,
    relay: translateAnswer(reader, new ResponsesWriter(options, form), form),
    stream,
    stopsOnCancel: settings.stops_on_cancel,
    refusal: messagesRefusal,
  }
}

/** The only member in between that the caller knows by another name. */
function toOwnName(name: string): string {
  return name === 'reasoning_effort' ? 'reasoning.effort' : name
}

/** The vendor's own answer has the form of its messages, which clients of responses do not read. */
function inOwnForm({ kind, details }: UpstreamFailure): UpstreamFailure {
  const { answer: _messages, ...rest } = details
  return new UpstreamFailure(kind, rest)
}
