/** Translates limits, sampling, reasoning and answer format of a chat request. */
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import { InvalidRequest } from '../invalid-request.ts'
import type { MessagesQuirks } from '../messages/quirks.ts'

/** The format's temperatures end at 1, the chat format's at 2. */
const TEMPERATURE_MAX = 1

/** Copies known fields only, since a native vendor rejects those of the other format. */
export function translateChatParameters(request: JsonObject, quirks: MessagesQuirks): JsonObject {
  const { user } = request
  refuseUnsupported(request)
  const thinking = translateEffort(request, quirks)
  return {
    max_tokens: readMaxTokens(request, quirks),
    ...translateSampling(request, 'thinking' in thinking),
    ...translateStop(request.stop),
    ...translateFormat(request.response_format, quirks),
    ...thinking,
    ...(typeof user === 'string' ? { metadata: { user_id: user } } : {}),
  }
}

/** Throws for fields whose effect the caller would miss in the answer. */
function refuseUnsupported({ n, logprobs, modalities, ...request }: JsonObject): void {
  if (isSet(n) && n !== 1) throw new InvalidRequest('n', 'this model gives one answer per request')
  if (logprobs === true) throw new InvalidRequest('logprobs', 'this model states none')
  if (Array.isArray(modalities) && modalities.some((modality) => modality !== 'text')) {
    throw new InvalidRequest('modalities', 'this model answers in text only')
  }
  if (isSet(request.web_search_options)) {
    throw new InvalidRequest('web_search_options', 'this model does not search by itself')
  }
}

/** The smallest `top_p` beside thinking. */
const THINKING_TOP_P_MIN = 0.95

function translateSampling(request: JsonObject, isThinking: boolean): JsonObject {
  const { temperature, top_p: topP, top_k: topK } = request
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
  const field = isSet(request.max_completion_tokens) ? 'max_completion_tokens' : 'max_tokens'
  const value = isSet(request[field]) ? request[field] : quirks.maxTokensDefault
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidRequest(field, 'must be a whole number of at least 1')
  }
  return Math.min(value, quirks.maxTokensLimit ?? value)
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}

function translateStop(stop: unknown): JsonObject {
  const sequences = (Array.isArray(stop) ? stop : [stop]).filter((text) => typeof text === 'string')
  // The format refuses sequences of white space alone.
  const nonBlank = sequences.filter((text) => text.trim() !== '')
  return nonBlank.length > 0 ? { stop_sequences: nonBlank } : {}
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
  const effort = asString(request.reasoning_effort)
  const budget = EFFORT_BUDGET_TOKENS.get(effort ?? '')
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

function translateFormat(format: unknown, quirks: MessagesQuirks): JsonObject {
  const schema = member(member(format, 'json_schema'), 'schema')
  if (!isObject(schema) || !quirks.structuredOutput) return {}
  return { output_config: { format: { type: 'json_schema', schema } } }
}

/** Returns instructions for the answer format if the upstream has no field for it, else ''. */
export function describeAnswerFormat(format: unknown, quirks: MessagesQuirks): string {
  const schema = member(member(format, 'json_schema'), 'schema')
  if (member(format, 'type') === 'json_object')
    return 'Answer with one JSON object and no other text.'
  if (!isObject(schema) || quirks.structuredOutput) return ''
  return `Answer with one JSON value that follows this JSON schema:\n${JSON.stringify(schema)}`
}
