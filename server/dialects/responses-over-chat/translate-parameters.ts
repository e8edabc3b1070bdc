/** Translates limits, sampling, reasoning and answer format of a Responses request. */
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'
import { pseudonym } from '../../lib/text/pseudonym.ts'
import type { ChatQuirks } from '../chat/quirks.ts'
import { InvalidRequest } from '../invalid-request.ts'

/** Fields with their own meaning are built one by one; a field not named here is not sent. */
export function translateResponseParameters(request: JsonObject, quirks: ChatQuirks): JsonObject {
  const { temperature, top_p: topP } = request
  return {
    ...translateMaxTokens(request.max_output_tokens, quirks),
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof topP === 'number' ? { top_p: topP } : {}),
    ...translateEffort(request, quirks),
    ...translateFormat(request, quirks),
    ...translateUser(request, quirks),
  }
}

function translateMaxTokens(value: unknown, quirks: ChatQuirks): JsonObject {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidRequest('max_output_tokens', 'must be a whole number of at least 1')
  }
  return { [quirks.maxTokensField]: Math.min(value, quirks.maxTokensLimit ?? value) }
}

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

function translateEffort(request: JsonObject, { reasoningEfforts: known }: ChatQuirks): JsonObject {
  const rank = EFFORTS.indexOf(asString(member(request.reasoning, 'effort')) ?? '')
  if (rank === -1) return {}
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
  if (type === 'json_object' || (schema && quirks.responseFormat === 'json_object')) {
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
function translateUser(request: JsonObject, { userField, userLength }: ChatQuirks): JsonObject {
  const id = asString(request.safety_identifier) || asString(request.user)
  return userField && id ? { [userField]: pseudonym(id, userLength) } : {}
}
