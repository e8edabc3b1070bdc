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
import { throwInOwnForm } from '../failure.ts'
import { nameIgnored } from '../ignored-header.ts'
import type { CallAdapter } from '../upstream.ts'
import { describeHostAnswer, type MessagesHost, messagesAnswerHeaders } from './host.ts'
import { readMessagesUsageOptions } from './read-usage-options.ts'
import { type MessagesSettings, readMessagesQuirks } from './settings.ts'

/** The intermediate chat request omits nothing that the messages format can express. */
const IN_BETWEEN: ChatQuirks = {
  ...DEFAULT_CHAT_QUIRKS,
  max_tokens_field: 'max_completion_tokens',
  file_parts: true,
  beforeMessages: true,
  reasoning_efforts: ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  user_field: 'user',
}

export function createResponses<Settings extends MessagesSettings>(
  host: MessagesHost<Settings>,
): CallAdapter<Settings> {
  return async (
    wire,
    { settings, upstreamModel, outputTokensMax, sellsSearch = false, request },
  ) => {
    const { stream, model, value, createdAtSeconds } = request
    const inputTokensEstimate = request.estimateInputTokens()
    const { chat, context, ignored } = toChatRequest(value, {
      upstreamModel,
      stream,
      quirks: { ...IN_BETWEEN, webSearch: sellsSearch },
    })
    const quirks = readMessagesQuirks(settings, outputTokensMax, sellsSearch)
    const translated = translateChatRequest(chat, { upstreamModel, stream, quirks })
    const { body } = translated
    const sent = { settings, upstreamModel, request: { ...request, headers: {} }, body }
    const answer = await host.send(wire, sent).catch(throwInOwnForm)
    const names = [...ignored, ...translated.ignored.map(toOwnName), ...answer.ignored]
    const id = `resp_${randomText(24)}`
    const options = { id, createdAtSeconds, model, inputTokensEstimate, context }
    const form = stream ? 'stream' : 'whole'
    const reader = new MessagesReader(readMessagesUsageOptions(chat))
    const relay = translateAnswer(reader, new ResponsesWriter(options, form), form)
    return {
      ...describeHostAnswer(host, sent, answer, relay),
      headers: { ...messagesAnswerHeaders(stream), ...nameIgnored(names) },
    }
  }
}

/** The only intermediate member that the caller knows by another name. */
function toOwnName(name: string): string {
  return name === 'reasoning_effort' ? 'reasoning.effort' : name
}
