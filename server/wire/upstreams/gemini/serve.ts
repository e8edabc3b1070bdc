/**
 * Chat, messages and responses over Gemini. Each is a chat request first, which is written as
 * contents; the answer is read once, and written in the caller's dialect.
 */
import { randomText } from '../../../base/lib/ids.ts'
import { type JsonObject, member } from '../../../base/lib/json.ts'
import { type ChatQuirks, DEFAULT_CHAT_QUIRKS } from '../../dialects/chat/quirks.ts'
import { createContentsChat } from '../../dialects/chat-over-contents/answer.ts'
import {
  type ContentsRequest,
  translateToContents,
} from '../../dialects/chat-over-contents/request.ts'
import {
  listCustomTools,
  usesLegacyFunctions,
} from '../../dialects/chat-over-messages/translate-tools.ts'
import { billsQueries } from '../../dialects/contents/generation.ts'
import { ContentsReader, type ContentsReaderOptions } from '../../dialects/contents/read-parts.ts'
import { MESSAGES_PING } from '../../dialects/messages/error.ts'
import { withExactInputs } from '../../dialects/messages/exact-inputs.ts'
import { rewordContextLength } from '../../dialects/messages-over-chat/context-length.ts'
import { toChatMessageRequest } from '../../dialects/messages-over-chat/request.ts'
import { MessagesWriter } from '../../dialects/messages-over-chat/writer.ts'
import { translateAnswer } from '../../dialects/parts/translate-answer.ts'
import type { RelayReport } from '../../dialects/relay.ts'
import { toChatRequest } from '../../dialects/responses-over-chat/request.ts'
import { ResponsesWriter } from '../../dialects/responses-over-chat/writer.ts'
import { UpstreamFailure } from '../failure.ts'
import { nameIgnored } from '../ignored-header.ts'
import type { CallAdapter, UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire, WireResponse } from '../wire.ts'
import { readGeneration } from './generation.ts'
import { readServedHeader, refusesSignature, sendToGemini } from './send.ts'
import type { GeminiSettings } from './settings.ts'

type Call = UpstreamCall<GeminiSettings>

/** The intermediate chat request omits nothing that the format can express. */
const IN_BETWEEN: ChatQuirks = {
  ...DEFAULT_CHAT_QUIRKS,
  max_tokens_field: 'max_completion_tokens',
  file_parts: true,
  beforeMessages: true,
  reasoning_efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  top_k: true,
  stop_limit: 5,
  stream_options: false,
}

interface Answered {
  readonly response: WireResponse
  readonly reading: ContentsReaderOptions
  readonly ignored: readonly string[]
}

async function ask(wire: Wire, call: Call, chat: JsonObject): Promise<Answered> {
  const { settings, upstreamModel, sellsSearch = false, request } = call
  const generation = readGeneration(upstreamModel)
  const hasIds = settings.service_account === undefined
  const { stream, value } = request
  const translate = (replacesSignatures: boolean) =>
    translateToContents(chat, { generation, stream, sellsSearch, hasIds, replacesSignatures })
  const method = stream ? 'streamGenerateContent' : 'generateContent'
  const send = ({ body, tier }: ContentsRequest) =>
    sendToGemini(wire, { settings, upstreamModel, method, body, tier, value })
  const first = translate(false)
  // Nothing was done for a refused request, so it is sent once more without the refused part.
  const response = await send(first).catch((error: unknown) => {
    if (!refusesSignature(error)) throw error
    return send(translate(true))
  })
  const reading = {
    billsQueries: billsQueries(generation),
    servedTier: readServedHeader(response),
    isGrounded: first.searches,
  }
  return { response, reading, ignored: first.ignored }
}

export function answerGemini(
  { settings, request: { stream } }: Call,
  { body }: WireResponse,
  relay: UpstreamAnswer['relay'],
  ignored: readonly string[],
): UpstreamAnswer {
  const headers: Record<string, string> = stream
    ? { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
    : { 'content-type': 'application/json' }
  return {
    status: 200,
    headers: { ...headers, ...nameIgnored(ignored) },
    body,
    relay,
    stream,
    stopsOnCancel: settings.stops_on_cancel,
    refusal,
  }
}

/** An error before any content is one that another route may avoid. */
function refusal({ error }: RelayReport): UpstreamFailure | undefined {
  if (!error) return undefined
  const kind = error.type === 'overloaded_error' ? 'busy' : 'failed'
  return new UpstreamFailure(kind, { status: 200, message: error.message })
}

export const geminiChat: CallAdapter<GeminiSettings> = async (wire, call) => {
  const { value, stream, model, createdAtSeconds, estimateInputTokens } = call.request
  const { response, reading, ignored } = await ask(wire, call, value)
  const options = {
    stream,
    reading,
    id: `chatcmpl-${randomText(24)}`,
    model,
    created: createdAtSeconds,
    includeUsage: member(value.stream_options, 'include_usage') === true,
    legacyFunctions: usesLegacyFunctions(value),
    customTools: listCustomTools(value),
    inputTokensEstimate: estimateInputTokens(),
  }
  return answerGemini(call, response, createContentsChat(options), ignored)
}

const HEARTBEAT = Buffer.from(MESSAGES_PING)

export const geminiMessages: CallAdapter<GeminiSettings> = async (wire, call) => {
  const { upstreamModel, sellsSearch: webSearch = false } = call
  const { stream, model, estimateInputTokens } = call.request
  const value = withExactInputs(call.request)
  const quirks = { ...IN_BETWEEN, webSearch }
  const { chat, context, ignored } = toChatMessageRequest(value, { upstreamModel, stream, quirks })
  const answered = await ask(wire, call, chat).catch(reword)
  const inputTokensEstimate = estimateInputTokens()
  const options = { id: `msg_${randomText(24)}`, model, inputTokensEstimate, context }
  const form = stream ? 'stream' : 'whole'
  const relay = translateAnswer(
    new ContentsReader(answered.reading),
    new MessagesWriter(options, form),
    form,
  )
  const names = [...ignored, ...answered.ignored.map((name) => toOwnName(name, OF_MESSAGES))]
  return { ...answerGemini(call, answered.response, relay, names), heartbeat: HEARTBEAT }
}

/** Agents shorten a conversation when they recognise the message. */
function reword(error: unknown): never {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'rejected') throw error
  const message = rewordContextLength(error.details)
  throw message ? new UpstreamFailure('rejected', { ...error.details, message }) : error
}

export const geminiResponses: CallAdapter<GeminiSettings> = async (wire, call) => {
  const { upstreamModel, sellsSearch: webSearch = false } = call
  const { value, stream, model, createdAtSeconds, estimateInputTokens } = call.request
  const quirks = { ...IN_BETWEEN, webSearch }
  const { chat, context, ignored } = toChatRequest(value, { upstreamModel, stream, quirks })
  const answered = await ask(wire, call, chat)
  const id = `resp_${randomText(24)}`
  const inputTokensEstimate = estimateInputTokens()
  const options = { id, createdAtSeconds, model, inputTokensEstimate, context }
  const form = stream ? 'stream' : 'whole'
  const relay = translateAnswer(
    new ContentsReader(answered.reading),
    new ResponsesWriter(options, form),
    form,
  )
  const names = [...ignored, ...answered.ignored.map((name) => toOwnName(name, OF_RESPONSES))]
  return answerGemini(call, answered.response, relay, names)
}

/** Intermediate members that callers know by other names. */
const OF_MESSAGES = { reasoning_effort: 'thinking', web_search_options: 'tools.web_search' }
const OF_RESPONSES = {
  reasoning_effort: 'reasoning.effort',
  web_search_options: 'tools.web_search',
}

function toOwnName(name: string, own: Readonly<Record<string, string>>): string {
  const stem = /^\w*/.exec(name)?.[0] ?? ''
  return Object.hasOwn(own, stem) ? `${own[stem]}${name.slice(stem.length)}` : name
}
