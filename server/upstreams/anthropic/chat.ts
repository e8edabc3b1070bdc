/** Chat completions over a messages-native upstream: one translator, named by its two ends. */
import { chainAfterReading } from '../../dialects/chain.ts'
import { createChatCollector } from '../../dialects/chat/collect-stream.ts'
import { decideOnFirstByte } from '../../dialects/chat/expect-body.ts'
import { createChatUnfolder } from '../../dialects/chat/unfold-body.ts'
import type { ChatAnswerOptions } from '../../dialects/chat-over-messages/answer.ts'
import { createChatBody } from '../../dialects/chat-over-messages/body.ts'
import { translateChatRequest } from '../../dialects/chat-over-messages/request.ts'
import { createChatStream } from '../../dialects/chat-over-messages/stream.ts'
import {
  listCustomTools,
  usesLegacyFunctions,
} from '../../dialects/chat-over-messages/translate-tools.ts'
import type { Relay } from '../../dialects/relay.ts'
import { UPSTREAM_ERROR } from '../../dialects/reported-error.ts'
import { randomText } from '../../lib/ids.ts'
import { member } from '../../lib/json.ts'
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
    relay: readChatAnswer(stream, options),
    stream,
    stopsOnCancel: settings.stops_on_cancel,
    refusal: messagesRefusal,
  }
}

/**
 * Returns the relay for a messages answer, read as a chat answer. A document in place of a stream
 * and a stream in place of a document are converted: the vendor has done and billed the work.
 */
export function readChatAnswer(isStreamRequested: boolean, options: ChatAnswerOptions): Relay {
  const body = createChatBody(options)
  if (!isStreamRequested) {
    return decideOnFirstByte(body, (isJson) => (isJson ? body : collectStream(options)))
  }
  const stream = createChatStream(options)
  return decideOnFirstByte(stream, (isJson) => {
    return isJson ? chainAfterReading(body, createChatUnfolder()) : stream
  })
}

/** A stream that breaks off is an error, which its report alone does not say. */
function collectStream(options: ChatAnswerOptions): Relay {
  const stream = createChatStream({ ...options, includeUsage: true })
  const relay = chainAfterReading(stream, createChatCollector())
  return {
    ...relay,
    report() {
      const report = relay.report()
      return report.finished ? report : { ...report, error: report.error ?? UPSTREAM_ERROR }
    },
  }
}
