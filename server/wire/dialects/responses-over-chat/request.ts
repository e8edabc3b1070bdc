/**
 * Translates a request of the Responses dialect for an upstream with chat completions. The chat
 * request is built from known fields, never copied: `client_metadata`, `prompt_cache_key` and
 * future fields cannot pass to a third party.
 */
import { isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { stringifyWellFormed } from '../../../base/lib/text/well-formed.ts'
import type { ChatQuirks } from '../chat/quirks.ts'
import { InvalidRequest } from '../invalid-request.ts'
import { createToolMap, type ToolMap } from './tool-map.ts'
import { translateInput } from './translate-input.ts'
import {
  listIgnoredSettings,
  readResponseSchema,
  translateResponseParameters,
} from './translate-parameters.ts'
import { listResponseToolsLeftOut, translateResponseTools } from './translate-tools.ts'
import { findWebSearch } from './web-search.ts'

export interface ResponseRequestOptions {
  /** The upstream's own model id. */
  readonly upstreamModel: string
  readonly stream: boolean
  readonly quirks: ChatQuirks
}

export interface TranslatedResponseRequest {
  /** The body for the upstream, valid UTF-8 whatever the caller sent. */
  readonly body: Buffer
  /** The data of the request needed to translate the answer. */
  readonly context: ResponseAnswerContext
  /** Members of the request that are not sent upstream. */
  readonly ignored: readonly string[]
}

export interface ResponseAsChat extends Omit<TranslatedResponseRequest, 'body'> {
  readonly chat: JsonObject
}

export interface ResponseAnswerContext {
  readonly tools: ToolMap
  /** Fields of the request that a response repeats. */
  readonly echo: JsonObject
  /** True if reasoning is returned sealed, for clients that send it back. */
  readonly sealsReasoning: boolean
  /** True if the addresses that a search found are returned with it. */
  readonly showsSources: boolean
}

/** Throws `InvalidRequest` for requests that depend on stored conversations. */
export function translateResponseRequest(
  request: JsonObject,
  options: ResponseRequestOptions,
): TranslatedResponseRequest {
  const { chat, ...rest } = toChatRequest(request, options)
  return { body: Buffer.from(stringifyWellFormed(chat)), ...rest }
}

/** Returns the chat request before it is written. Throws `InvalidRequest`. */
export function toChatRequest(
  original: JsonObject,
  { upstreamModel, stream, quirks }: ResponseRequestOptions,
): ResponseAsChat {
  const request = applyUpdates(original)
  refuseMemory(request)
  refuseProbabilities(request)
  const map = createToolMap()
  // The offered tools come first, so that they keep their own names.
  const search = findWebSearch(request, quirks)
  const tools = translateResponseTools(request, quirks, map, search)
  const messages = translateInput(request, quirks, map)
  if (messages.length === 0) throw new InvalidRequest('input', 'must say something')
  const schema = quirks.response_format === 'json_object' ? readResponseSchema(request) : undefined
  if (schema) {
    const text = `Answer with one JSON object of this JSON schema:\n${JSON.stringify(schema)}`
    const [first] = messages
    if (first?.role === 'system') first.content = `${first.content}\n\n${text}`
    else messages.unshift({ role: 'system', content: text })
  }
  const parameters = translateResponseParameters(request, quirks)
  const chat = {
    model: upstreamModel,
    messages,
    ...tools,
    ...parameters,
    ...(stream ? { stream } : {}),
    ...(stream && quirks.stream_options ? { stream_options: { include_usage: true } } : {}),
  }
  const include: readonly unknown[] = Array.isArray(request.include) ? request.include : []
  const sealsReasoning = include.includes(SEALED_REASONING)
  const showsSources = include.includes(SOURCES)
  return {
    chat,
    context: { tools: map, echo: readEcho(request), sealsReasoning, showsSources },
    ignored: [
      ...listIgnoredSettings(request, parameters),
      ...listResponseToolsLeftOut(request, search),
    ],
  }
}

/** The entry of `include` for reasoning that the client returns. */
const SEALED_REASONING = 'reasoning.encrypted_content'
/** The entry for the addresses that a search found. */
const SOURCES = 'web_search_call.action.sources'

/** Fields that refer to conversations stored at the vendor. */
const MEMORIES = ['previous_response_id', 'conversation', 'prompt'] as const

function refuseMemory(request: JsonObject): void {
  for (const field of MEMORIES) {
    if (request[field] === undefined || request[field] === null) continue
    throw new InvalidRequest(field, 'is not supported by this model: send the whole input')
  }
  if (request.background === true) {
    throw new InvalidRequest('background', 'is not supported by this model')
  }
}

/** Throws for log probabilities, which a translated answer does not have. */
function refuseProbabilities({ top_logprobs: count, include }: JsonObject): void {
  const message = 'is not supported by this model'
  if (count !== undefined && count !== null && count !== 0) {
    throw new InvalidRequest('top_logprobs', message)
  }
  if (Array.isArray(include) && include.includes('message.output_text.logprobs')) {
    throw new InvalidRequest('include', `message.output_text.logprobs ${message}`)
  }
}

/** Scalars and small objects that SDKs type as always there, with the dialect's defaults. */
function readEcho(request: JsonObject): JsonObject {
  const { metadata, reasoning, text } = request
  return {
    background: false,
    completed_at: null,
    frequency_penalty: 0,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: null,
    metadata: isObject(metadata) ? metadata : {},
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: isObject(reasoning) ? reasoning : { effort: null, summary: null },
    safety_identifier: request.safety_identifier ?? null,
    store: false,
    temperature: request.temperature ?? 1,
    text: isObject(text) && text.format ? text : { format: { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    // Clients know their tools: repeating them would send tens of kilobytes three times.
    tools: [],
    top_logprobs: 0,
    top_p: request.top_p ?? 1,
    truncation: 'disabled',
    user: request.user ?? null,
  }
}

/**
 * Applies the changes of settings that a conversation contains: the last one of each setting
 * counts. Returns the request with the `reasoning` and `text` of its `configuration_update` items.
 */
function applyUpdates(request: JsonObject): JsonObject {
  const { input } = request
  if (!Array.isArray(input)) return request
  const updates = input.filter((item) => member(item, 'type') === 'configuration_update')
  const reasoning = merge(request.reasoning, updates, 'reasoning')
  const text = merge(request.text, updates, 'text')
  const isSame = reasoning === request.reasoning && text === request.text
  return isSame ? request : { ...request, reasoning, text }
}

function merge(value: unknown, updates: readonly unknown[], name: string): unknown {
  let merged: Map<string, unknown> | undefined
  for (const update of updates) {
    const members = member(update, name)
    if (!isObject(members)) continue
    merged ??= new Map(isObject(value) ? Object.entries(value) : [])
    for (const [key, one] of Object.entries(members)) merged.set(key, one)
  }
  return merged ? Object.fromEntries(merged) : value
}
