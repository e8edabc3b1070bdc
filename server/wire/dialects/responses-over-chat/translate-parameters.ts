/** Translates limits, sampling, reasoning and answer format of a Responses request. */
import { asString, isAbsent, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { pseudonym } from '../../../base/lib/text/pseudonym.ts'
import { type ChatQuirks, limitFieldOf, switchesThinking, switchThinking } from '../chat/quirks.ts'
import { listIgnored, namesIn } from '../ignored.ts'
import { checkNumbers, InvalidRequest } from '../invalid-request.ts'
import { passTier } from '../usage/service-tier.ts'
import { isLongLifetime, nameLongLifetime } from '../usage/write-lifetime.ts'

/** Fields with their own meaning are built one by one; a field not named here is not sent. */
export function translateResponseParameters(request: JsonObject, quirks: ChatQuirks): JsonObject {
  const { temperature, top_p: topP } = request
  checkNumbers({ temperature, top_p: topP })
  return {
    ...translateMaxTokens(request.max_output_tokens, quirks),
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof topP === 'number' ? { top_p: topP } : {}),
    ...translateEffort(request, quirks),
    ...translateFormat(request, quirks),
    ...translateUser(request, quirks),
    ...passTier(request),
  }
}

/** Members that are translated, refused, or hints that change no answer. */
const KNOWN = namesIn(`
  model models input instructions stream stream_options max_output_tokens temperature top_p
  reasoning text tools tool_choice parallel_tool_calls top_logprobs include metadata store user
  safety_identifier prompt_cache_key prompt_cache_options prompt_cache_retention client_metadata
  truncation background callback_url previous_response_id conversation prompt max_tool_calls
  service_tier internal_chat_message_metadata_passthrough`)

/** Returns the members that are not sent upstream; `sent` are the translated ones. */
export function listIgnoredSettings(request: JsonObject, sent: JsonObject): string[] {
  const ignored = listIgnored(request, KNOWN)
  if (!isAbsent(member(request.text, 'verbosity'))) ignored.push('text.verbosity')
  const effort = member(request.reasoning, 'effort')
  const isSent = switchesThinking(sent)
  if (!isAbsent(effort) && effort !== 'none' && !isSent) {
    ignored.push('reasoning.effort')
  }
  if (isLongLifetime(member(request.prompt_cache_options, 'ttl'))) {
    ignored.push('prompt_cache_options.ttl')
  }
  return [...ignored, ...nameLongLifetime(request)]
}

function translateMaxTokens(value: unknown, quirks: ChatQuirks): JsonObject {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidRequest('max_output_tokens', 'must be a whole number of at least 1')
  }
  return { [limitFieldOf(quirks)]: Math.min(value, quirks.max_tokens_limit ?? value) }
}

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

function translateEffort(request: JsonObject, quirks: ChatQuirks): JsonObject {
  const rank = EFFORTS.indexOf(asString(member(request.reasoning, 'effort')) ?? '')
  if (rank === -1) return {}
  return { ...switchThinking(rank > 0, quirks), ...fitEffort(rank, quirks) }
}

function fitEffort(rank: number, { reasoning_efforts: known }: ChatQuirks): JsonObject {
  if (rank === 0) return known.includes('none') ? { reasoning_effort: 'none' } : {}
  const active = known.filter((effort) => effort !== 'none')
  // Chooses the highest supported effort not above the requested one, else the lowest.
  const effort = active.findLast((effort) => EFFORTS.indexOf(effort) <= rank) ?? active[0]
  return effort === undefined ? {} : { reasoning_effort: effort }
}

function translateFormat(request: JsonObject, quirks: ChatQuirks): JsonObject {
  const format = member(request.text, 'format')
  const type = member(format, 'type')
  const schema = readResponseSchema(request)
  if (!isAbsent(format) && !schema && type !== 'text' && type !== 'json_object') {
    const isSchema = type === 'json_schema'
    const field = isSchema ? 'text.format.schema' : 'text.format.type'
    throw new InvalidRequest(field, isSchema ? 'is required' : 'is not supported by this model')
  }
  if (type === 'json_object' || (schema && quirks.response_format === 'json_object')) {
    return { response_format: { type: 'json_object' } }
  }
  if (!schema) return {}
  const name = asString(member(format, 'name')) || 'answer'
  const strict = member(format, 'strict') === true ? { strict: true } : {}
  return { response_format: { type: 'json_schema', json_schema: { name, schema, ...strict } } }
}

/** The JSON schema that the answer is to follow. */
export function readResponseSchema(request: JsonObject): JsonObject | undefined {
  const format = member(request.text, 'format')
  const schema = member(format, 'schema')
  return member(format, 'type') === 'json_schema' && isObject(schema) ? schema : undefined
}

/** Sends a pseudonym in place of the caller's user id, which may be personal. */
function translateUser(
  request: JsonObject,
  { user_field: userField, user_length: userLength }: ChatQuirks,
): JsonObject {
  const id = asString(request.safety_identifier) || asString(request.user)
  return userField && id ? { [userField]: pseudonym(id, userLength) } : {}
}
