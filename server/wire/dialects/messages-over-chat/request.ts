/**
 * Translates a request of the messages format for an upstream with chat completions. The chat
 * request is built from known fields, never copied: private fields of the caller (`safeguards`,
 * `metadata`, billing lines) and fields that a strict vendor rejects cannot pass.
 */
import { isObject, type JsonObject } from '../../../base/lib/json.ts'
import { stringifyWellFormed } from '../../../base/lib/text/well-formed.ts'
import type { ChatQuirks } from '../chat/quirks.ts'
import { InvalidRequest } from '../invalid-request.ts'
import type { ChatMessage } from './chat-request.ts'
import { createToolNames, type ToolNames } from './tool-names.ts'
import { translateConversation } from './translate-conversation.ts'
import {
  listIgnoredByChat,
  readMessageSchema,
  translateMessageParameters,
} from './translate-parameters.ts'
import { listIgnoredTools, translateMessageTools } from './translate-tools.ts'

export interface MessageRequestOptions {
  /** The upstream's own model id. */
  readonly upstreamModel: string
  readonly stream: boolean
  readonly quirks: ChatQuirks
}

export interface TranslatedMessageRequest {
  /** The body for the upstream, valid UTF-8 whatever the caller sent. */
  readonly body: Buffer
  /** The data of the request needed to translate the answer. */
  readonly context: MessageAnswerContext
  /** Members of the request that are not sent upstream. */
  readonly ignored: readonly string[]
}

export interface MessageAsChat extends Omit<TranslatedMessageRequest, 'body'> {
  readonly chat: JsonObject
}

export interface MessageAnswerContext {
  readonly toolNames: ToolNames
  /**
   * The prefilled beginning of the answer, which an upstream may repeat although the caller already
   * has it.
   */
  readonly prefill: string
  /** True if the caller requested visible thinking; otherwise reasoning is left out. */
  readonly showsThinking: boolean
}

/** Throws `InvalidRequest` for requests that the upstream does not support. */
export function translateMessageRequest(
  request: JsonObject,
  options: MessageRequestOptions,
): TranslatedMessageRequest {
  const { chat, ...rest } = toChatMessageRequest(request, options)
  return { body: Buffer.from(stringifyWellFormed(chat)), ...rest }
}

/** Returns the chat request before it is written. Throws `InvalidRequest`. */
export function toChatMessageRequest(
  request: JsonObject,
  options: MessageRequestOptions,
): MessageAsChat {
  const { upstreamModel, stream, quirks } = options
  const toolNames = createToolNames()
  const tools = translateMessageTools(request, quirks, toolNames)
  const messages = [...translateConversation(request, quirks, toolNames)]
  if (messages.length === 0) throw new InvalidRequest('messages', 'must say something')
  addAnswerSchema(messages, request, quirks)
  const prefill = markPrefill(messages, quirks)
  const parameters = translateMessageParameters(request, quirks)
  const asksUsage = stream && quirks.stream_options
  const chat = {
    model: upstreamModel,
    messages,
    ...tools,
    ...parameters,
    ...(stream ? { stream } : {}),
    ...(asksUsage ? { stream_options: { include_usage: true } } : {}),
    ...(prefill && quirks.prefill === 'continue_final_message' ? CONTINUE : {}),
  }
  const repeats = quirks.prefill === 'keep'
  return {
    chat,
    context: {
      toolNames,
      prefill: repeats ? prefill : '',
      showsThinking: asksThinking(request),
    },
    ignored: [
      ...listIgnoredByChat(request, parameters, quirks),
      ...listIgnoredTools(request, quirks),
    ],
  }
}

function asksThinking({ thinking }: JsonObject): boolean {
  return isObject(thinking) && thinking.type !== 'disabled'
}

/** Fields by which vLLM and SGLang continue the last message. */
const CONTINUE = { continue_final_message: true, add_generation_prompt: false }

/** Returns the caller's prefill, or ''; marks it in the upstream's form. */
function markPrefill(messages: readonly ChatMessage[], { prefill }: ChatQuirks): string {
  const last = messages.at(-1)
  if (last?.role !== 'assistant' || typeof last.content !== 'string') return ''
  if (prefill === 'refuse') {
    throw new InvalidRequest(
      'messages',
      'prefill is not supported: the last must be a user message',
    )
  }
  if (prefill === 'prefix') last.prefix = true
  if (prefill === 'partial') last.partial = true
  return last.content
}

/** Adds the schema to the prompt for an upstream that only supports unspecified JSON. */
function addAnswerSchema(messages: ChatMessage[], request: JsonObject, quirks: ChatQuirks): void {
  const schema = readMessageSchema(request)
  if (!schema || quirks.response_format === 'json_schema') return
  const described = JSON.stringify(schema)
  const text = `Answer with one JSON object that follows this JSON schema:\n${described}`
  const [first] = messages
  if (first?.role === 'system') first.content = `${first.content}\n\n${text}`
  else messages.unshift({ role: 'system', content: text })
}
