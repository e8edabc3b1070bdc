/** The operations that any host of the messages format serves. */

import { randomText } from '../../../base/lib/ids.ts'
import { member } from '../../../base/lib/json.ts'
import { translateChatRequest } from '../../dialects/chat-over-messages/request.ts'
import {
  listCustomTools,
  usesLegacyFunctions,
} from '../../dialects/chat-over-messages/translate-tools.ts'
import { createChatBody, createChatStream } from '../../dialects/chat-over-messages/writer.ts'
import { completeByChat } from '../complete-by-chat.ts'
import { nameIgnored } from '../ignored-header.ts'
import type { CallAdapter, Upstream } from '../upstream.ts'
import { describeHostAnswer, type MessagesHost, messagesAnswerHeaders } from './host.ts'
import { createMessages } from './messages.ts'
import { readMessagesUsageOptions } from './read-usage-options.ts'
import { createResponses } from './responses.ts'
import { type MessagesSettings, readMessagesQuirks } from './settings.ts'

export function serveMessages<Settings extends MessagesSettings>(host: MessagesHost<Settings>) {
  const chat = createChat(host)
  return {
    calls: {
      messages: createMessages(host),
      chat,
      completion: completeByChat(chat, () => 'max_tokens'),
      responses: createResponses(host),
    },
    translates: (operation) => operation !== 'messages',
    translatesSearch: true,
    translatesMarks: true,
  } satisfies Partial<Upstream<Settings>>
}

function createChat<Settings extends MessagesSettings>(
  host: MessagesHost<Settings>,
): CallAdapter<Settings> {
  return async (wire, { settings, upstreamModel, outputTokensMax, sellsSearch, request }) => {
    const { stream, model, value } = request
    const quirks = readMessagesQuirks(settings, outputTokensMax, sellsSearch)
    const { body, ignored } = translateChatRequest(value, { upstreamModel, stream, quirks })
    const sent = { settings, upstreamModel, request: { ...request, headers: {} }, body }
    const answer = await host.send(wire, sent)
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
    const relay = stream ? createChatStream(options) : createChatBody(options)
    const names = [...ignored, ...answer.ignored]
    return {
      ...describeHostAnswer(host, sent, answer, relay),
      headers: { ...messagesAnswerHeaders(stream), ...nameIgnored(names) },
    }
  }
}
