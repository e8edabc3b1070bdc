/** Translates limits, sampling, reasoning and answer format of a messages request. */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { pseudonym } from '../../../base/lib/text/pseudonym.ts'
import { type ChatQuirks, limitFieldOf, switchesThinking, switchThinking } from '../chat/quirks.ts'
import { listIgnored, namesIn } from '../ignored.ts'
import { checkNumbers, InvalidRequest } from '../invalid-request.ts'
import { passKnownTier } from '../usage/service-tier.ts'
import { nameLongLifetime } from '../usage/write-lifetime.ts'

/** Fields with their own meaning are built one by one; a field not named here is not sent. */
export function translateMessageParameters(request: JsonObject, quirks: ChatQuirks): JsonObject {
  const { temperature, top_p: topP, top_k: topK } = request
  checkNumbers({ temperature, top_p: topP, top_k: topK })
  return {
    [limitFieldOf(quirks)]: readMaxTokens(request.max_tokens, quirks),
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof topP === 'number' ? { top_p: topP } : {}),
    ...(typeof topK === 'number' && quirks.top_k ? { top_k: topK } : {}),
    ...translateStop(request.stop_sequences, quirks),
    ...translateThinking(request, quirks),
    ...translateFormat(request, quirks),
    ...translateUser(request, quirks),
    ...passKnownTier(request),
  }
}

/** Members that are translated, or hints that change no answer. */
const KNOWN = namesIn(`
  model models messages system stream max_tokens temperature top_p stop_sequences tools tool_choice
  output_config output_format metadata cache_control context_management service_tier safeguards
  diagnostics user_profile_id workspace_id`)
/** Values that request nothing. */
const DEFAULTS: ReadonlySet<unknown> = new Set(['standard', 'global'])

/** Returns the members that are not sent to a chat upstream; `sent` are the translated ones. */
export function listIgnoredByChat(
  request: JsonObject,
  sent: JsonObject,
  quirks: ChatQuirks,
): string[] {
  const { thinking, output_config: config } = request
  const isThinkingSent = switchesThinking(sent)
  const ignored = listIgnored(request, KNOWN).filter((name) => {
    if (name === 'top_k') return !quirks.top_k
    if (name === 'thinking') return !isThinkingSent && member(thinking, 'type') !== 'disabled'
    return !DEFAULTS.has(request[name])
  })
  const effort = member(config, 'effort')
  const isEffortLost = effort !== undefined && effort !== null && !('reasoning_effort' in sent)
  return [
    ...ignored,
    ...(isEffortLost ? ['output_config.effort'] : []),
    ...nameLongLifetime(request),
  ]
}

function readMaxTokens(value: unknown, { max_tokens_limit: maxTokensLimit }: ChatQuirks): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidRequest('max_tokens', 'must be a whole number of at least 1')
  }
  return maxTokensLimit === undefined ? value : Math.min(value, maxTokensLimit)
}

/** Throws for more strings than the upstream accepts: dropping some would change where it stops. */
function translateStop(value: unknown, { stop_limit: stopLimit }: ChatQuirks): JsonObject {
  if (value === undefined || value === null) return {}
  if (!Array.isArray(value) || !value.every((stop) => typeof stop === 'string')) {
    throw new InvalidRequest('stop_sequences', 'must be an array of strings')
  }
  if (value.length > stopLimit) {
    throw new InvalidRequest('stop_sequences', `this model takes at most ${stopLimit}`)
  }
  return value.length > 0 ? { stop: value } : {}
}

/** Efforts from low to high; a budget in tokens is read as one of them. */
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
const LOW_BUDGET_TOKENS = 4_096
const MEDIUM_BUDGET_TOKENS = 16_384

function translateThinking(request: JsonObject, quirks: ChatQuirks): JsonObject {
  const type = member(request.thinking, 'type')
  if (type === undefined && request.output_config === undefined) return {}
  const isOff = type === 'disabled'
  const requested = isOff ? 'none' : readEffort(request)
  const effort =
    requested === undefined ? undefined : fitEffort(requested, quirks.reasoning_efforts)
  return {
    ...(type === undefined ? {} : switchThinking(!isOff, quirks)),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
  }
}

function readEffort({ thinking, output_config: config }: JsonObject): string | undefined {
  const effort = asString(member(config, 'effort'))
  if (effort !== undefined) return effort
  const budget = member(thinking, 'budget_tokens')
  if (typeof budget !== 'number') return undefined
  if (budget <= LOW_BUDGET_TOKENS) return 'low'
  return budget <= MEDIUM_BUDGET_TOKENS ? 'medium' : 'high'
}

/** Returns the highest supported effort not above the requested one, else the lowest. */
function fitEffort(requested: string, known: readonly string[]): string | undefined {
  const rank = EFFORTS.indexOf(requested)
  if (rank === -1) return undefined
  if (requested === 'none') return known.includes('none') ? 'none' : undefined
  const active = known.filter((effort) => effort !== 'none')
  return active.findLast((effort) => EFFORTS.indexOf(effort) <= rank) ?? active[0]
}

function translateFormat(request: JsonObject, quirks: ChatQuirks): JsonObject {
  const schema = readMessageSchema(request)
  if (!schema) return {}
  if (quirks.response_format === 'json_object') return { response_format: { type: 'json_object' } }
  const namedSchema = { name: 'answer', schema }
  return { response_format: { type: 'json_schema', json_schema: namedSchema } }
}

/** The JSON schema that the answer is to follow, under its newer or its older name. */
export function readMessageSchema(request: JsonObject): JsonObject | undefined {
  const format = member(request.output_config, 'format') ?? request.output_format
  const schema = member(format, 'schema')
  return member(format, 'type') === 'json_schema' && isObject(schema) ? schema : undefined
}

/** Claude Code's user id is a JSON text about the device, so only a pseudonym may be sent. */
function translateUser(request: JsonObject, quirks: ChatQuirks): JsonObject {
  const id = asString(member(request.metadata, 'user_id'))
  if (!quirks.user_field || !id) return {}
  return { [quirks.user_field]: pseudonym(id, quirks.user_length) }
}
