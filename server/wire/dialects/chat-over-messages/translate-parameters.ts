/** Translates limits, sampling, reasoning and answer format of a chat request. */
import { asString, isAbsent, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { listIgnored, namesIn } from '../ignored.ts'
import { checkNumbers, InvalidRequest } from '../invalid-request.ts'
import type { MessagesQuirks } from '../messages/quirks.ts'
import { listIgnoredSearch } from './translate-search.ts'

/** The format's temperatures end at 1, the chat format's at 2. */
const TEMPERATURE_MAX = 1

/** Copies known fields only, since a native vendor rejects those of the other format. */
export function translateChatParameters(request: JsonObject, quirks: MessagesQuirks): JsonObject {
  const user = asString(request.user) || asString(request.safety_identifier)
  refuseUnsupported(request)
  const thinking = translateEffort(request, quirks)
  return {
    max_tokens: readMaxTokens(request, quirks),
    ...translateSampling(request, 'thinking' in thinking),
    ...translateStop(request.stop),
    ...translateFormat(request.response_format, quirks),
    ...thinking,
    ...(user ? { metadata: { user_id: user } } : {}),
  }
}

/** Members that are translated, refused, or hints that change no answer. */
const KNOWN = namesIn(`
  model models messages stream stream_options max_tokens max_completion_tokens temperature top_p
  top_k stop tools tool_choice parallel_tool_calls functions function_call response_format user
  safety_identifier n logprobs modalities web_search_options search_parameters enable_search
  plugins reasoning_effort thinking metadata store prompt_cache_key prompt_cache_options
  prompt_cache_retention service_tier prediction`)

/**
 * Returns the members that are not sent to the vendor; `hasThinking` is true if thinking is
 * requested.
 */
export function listIgnoredByMessages(request: JsonObject, hasThinking: boolean): string[] {
  const { reasoning_effort: effort, thinking, stop, messages } = request
  const ignored = listIgnored(request, KNOWN)
  if (!isAbsent(effort) && effort !== 'none' && !hasThinking) ignored.push('reasoning_effort')
  const wantsThinking = !isAbsent(thinking) && member(thinking, 'type') !== 'disabled'
  if (wantsThinking && !hasThinking) ignored.push('thinking')
  if (readStops(stop).some(isBlank)) ignored.push('stop')
  ignored.push(...listIgnoredSearch(request))
  for (const [position, message] of (Array.isArray(messages) ? messages : []).entries()) {
    const { role, name, audio } = isObject(message) ? message : {}
    if (!isAbsent(name) && role !== 'function' && role !== 'tool') {
      ignored.push(`messages[${position}].name`)
    }
    if (!isAbsent(audio)) ignored.push(`messages[${position}].audio`)
  }
  return ignored
}

/** Throws for fields whose effect would be missing from the answer. */
function refuseUnsupported({ n, logprobs, modalities, ...request }: JsonObject): void {
  const { search_parameters: search, service_tier: tier } = request
  if (!isAbsent(tier) && !OPEN_TIERS.has(tier)) {
    throw new InvalidRequest('service_tier', 'this model has no choice of tiers')
  }
  if (!isAbsent(n) && n !== 1)
    throw new InvalidRequest('n', 'this model gives one answer per request')
  if (logprobs === true) throw new InvalidRequest('logprobs', 'this model states none')
  if (Array.isArray(modalities) && modalities.some((modality) => modality !== 'text')) {
    throw new InvalidRequest('modalities', 'this model answers in text only')
  }
  if (!isAbsent(search) && member(search, 'mode') !== 'off') {
    throw new InvalidRequest('search_parameters', NO_SEARCH)
  }
  if (!isAbsent(request.enable_search) && request.enable_search !== false) {
    throw new InvalidRequest('enable_search', NO_SEARCH)
  }
  if (Array.isArray(request.plugins) && request.plugins.length > 0) {
    throw new InvalidRequest('plugins', 'this model has none')
  }
}

/** Tiers that leave the choice to the vendor. */
const OPEN_TIERS: ReadonlySet<unknown> = new Set(['auto', 'default', 'standard', 'standard_only'])
const NO_SEARCH = 'this model does not search by itself'

/** The smallest `top_p` beside thinking. */
const THINKING_TOP_P_MIN = 0.95

function translateSampling(request: JsonObject, isThinking: boolean): JsonObject {
  const { temperature, top_p: topP, top_k: topK } = request
  checkNumbers({ temperature, top_p: topP, top_k: topK })
  // Thinking excludes a temperature and `top_k`.
  const isSampled = typeof temperature === 'number' && !isThinking
  // Newer models refuse both fields together, and 1 changes nothing.
  const isRedundant = topP === 1 && isSampled
  const isTooLow = isThinking && Number(topP) < THINKING_TOP_P_MIN
  const sendsTopP = typeof topP === 'number' && !isRedundant && !isTooLow
  return {
    ...(isSampled ? { temperature: Math.min(temperature, TEMPERATURE_MAX) } : {}),
    ...(sendsTopP ? { top_p: topP } : {}),
    ...(Number.isSafeInteger(topK) && !isThinking ? { top_k: topK } : {}),
  }
}

function readMaxTokens(request: JsonObject, quirks: MessagesQuirks): number {
  const field = !isAbsent(request.max_completion_tokens) ? 'max_completion_tokens' : 'max_tokens'
  const value = !isAbsent(request[field]) ? request[field] : quirks.max_tokens_default
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidRequest(field, 'must be a whole number of at least 1')
  }
  return Math.min(value, quirks.max_tokens_limit ?? value)
}

function translateStop(stop: unknown): JsonObject {
  // The format refuses sequences of white space alone.
  const sequences = readStops(stop).filter((text) => !isBlank(text))
  return sequences.length > 0 ? { stop_sequences: sequences } : {}
}

function readStops(stop: unknown): string[] {
  if (isAbsent(stop)) return []
  const sequences: unknown[] = Array.isArray(stop) ? stop : [stop]
  return sequences
    .map((text) => {
      if (typeof text === 'string') return text
      throw new InvalidRequest('stop', 'must be a string or an array of strings')
    })
    .filter((text) => text !== '')
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

const EFFORT_BUDGET_TOKENS = new Map([
  ['minimal', 1_024],
  ['low', 2_048],
  ['medium', 8_192],
  ['high', 16_384],
  ['xhigh', 24_576],
  ['max', 24_576],
])
/** The smallest budget that the format takes. */
const BUDGET_TOKENS_MIN = 1_024
const ADAPTIVE_EFFORTS = new Map([
  ['minimal', 'low'],
  ['xhigh', 'high'],
])

function translateEffort(request: JsonObject, quirks: MessagesQuirks): JsonObject {
  const effort = readEffort(request)
  const budget = readBudget(request) ?? EFFORT_BUDGET_TOKENS.get(effort ?? '')
  if (effort === undefined || budget === undefined || quirks.reasoning === 'off') return {}
  if (quirks.reasoning === 'adaptive') {
    const known = ADAPTIVE_EFFORTS.get(effort) ?? effort
    const format = translateFormat(request.response_format, quirks).output_config
    const config = isObject(format) ? format : {}
    return { thinking: { type: 'adaptive' }, output_config: { ...config, effort: known } }
  }
  // The budget is a part of max_tokens and must leave room for an answer.
  const most = Math.min(budget, Math.floor(readMaxTokens(request, quirks) / 2))
  return most < BUDGET_TOKENS_MIN ? {} : { thinking: { type: 'enabled', budget_tokens: most } }
}

/** Some chat clients switch thinking on, with or without a budget, instead of naming an effort. */
function readEffort({ reasoning_effort: effort, thinking }: JsonObject): string | undefined {
  const type = member(thinking, 'type')
  if (type === 'disabled') return undefined
  const named = asString(effort)
  if (named !== undefined) return named
  return type === 'enabled' || type === 'adaptive' ? 'medium' : undefined
}

function readBudget({ thinking }: JsonObject): number | undefined {
  const budget = member(thinking, 'budget_tokens')
  return typeof budget === 'number' && Number.isSafeInteger(budget) ? budget : undefined
}

function translateFormat(format: unknown, quirks: MessagesQuirks): JsonObject {
  const schema = member(member(format, 'json_schema'), 'schema')
  if (!isObject(schema) || !quirks.structured_output) return {}
  return { output_config: { format: { type: 'json_schema', schema } } }
}

/** Throws for a format that this cannot describe. */
function readFormatType(format: unknown): unknown {
  const type = member(format, 'type')
  if (isAbsent(format) || type === 'text' || type === 'json_object') return type
  if (type !== 'json_schema') {
    throw new InvalidRequest('response_format.type', 'must be text, json_object or json_schema')
  }
  if (isObject(member(member(format, 'json_schema'), 'schema'))) return type
  throw new InvalidRequest('response_format.json_schema.schema', 'is required')
}

/** Returns instructions for the answer format if the upstream has no field for it, else ''. */
export function describeAnswerFormat(format: unknown, quirks: MessagesQuirks): string {
  const type = readFormatType(format)
  if (type === 'json_object') return 'Answer with one JSON object and no other text.'
  if (type !== 'json_schema' || quirks.structured_output) return ''
  const schema = member(member(format, 'json_schema'), 'schema')
  return `Answer with one JSON value that follows this JSON schema:\n${JSON.stringify(schema)}`
}
