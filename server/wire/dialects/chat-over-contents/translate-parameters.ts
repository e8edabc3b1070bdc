/**
 * Translates limits, sampling, thinking and the answer format. Parameters that a generation of
 * models refuses are corrected here, and named in the answer
 * (docs/protocols/google.md#generations).
 */
import { asString, isAbsent, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { type Generation, SIGNING, STRICT } from '../contents/generation.ts'
import { listIgnored, namesIn } from '../ignored.ts'
import { checkNumbers, InvalidRequest } from '../invalid-request.ts'

export interface ContentsParameters {
  readonly generationConfig: JsonObject
  /** The vendor's name of the tier; undefined: the account's default. */
  readonly tier: string | undefined
  readonly ignored: readonly string[]
}

const STOPS_MAX = 5
/** The most per request, for models that continue over several requests. */
const STREAM_TOKENS_MAX = 65_536
const WHOLE_TOKENS_MAX = 32_768
/** From this generation on, sampling has no effect. */
const UNSAMPLED = 3.6

export function translateParameters(
  request: JsonObject,
  generation: Generation,
  stream: boolean,
): ContentsParameters {
  refuseUnsupported(request)
  const thinking = translateThinking(request, generation)
  const isSampled = generation.number < UNSAMPLED
  const isStrict = generation.number >= STRICT
  return {
    generationConfig: {
      ...translateLimit(request, isStrict, stream),
      ...(isSampled ? rename(request, SAMPLING) : {}),
      ...rename(request, { seed: 'seed' }),
      ...(isStrict ? {} : rename(request, PENALTIES)),
      ...translateStop(request.stop),
      ...translateModalities(request.modalities),
      ...translatePicture(request.image_config),
      ...(thinking.config ? { thinkingConfig: thinking.config } : {}),
    },
    tier: readTier(request.service_tier),
    ignored: [
      ...listIgnored(request, KNOWN),
      ...(isSampled ? [] : namesOf(request, SAMPLING)),
      ...(isStrict ? namesOf(request, PENALTIES) : []),
      ...thinking.ignored,
    ],
  }
}

const SAMPLING = { temperature: 'temperature', top_p: 'topP', top_k: 'topK' }
const PENALTIES = { presence_penalty: 'presencePenalty', frequency_penalty: 'frequencyPenalty' }

/** Members that are translated, refused, or hints that change no answer. */
const KNOWN = namesIn(`
  model models messages stream stream_options max_tokens max_completion_tokens temperature top_p
  top_k seed presence_penalty frequency_penalty stop tools tool_choice parallel_tool_calls functions
  function_call response_format user safety_identifier n logprobs modalities image_config
  web_search_options search_parameters enable_search plugins reasoning_effort thinking metadata
  store prompt_cache_key prompt_cache_options prompt_cache_retention service_tier prediction`)

function rename(request: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  const found = Object.entries(names).filter(([name]) => !isAbsent(request[name]))
  checkNumbers(Object.fromEntries(found.map(([name]) => [name, request[name]])))
  return Object.fromEntries(found.map(([name, own]) => [own, request[name]]))
}

function namesOf(request: JsonObject, names: object): string[] {
  return Object.keys(names).filter((name) => !isAbsent(request[name]))
}

/** Throws for fields whose effect would be missing from the answer. */
function refuseUnsupported({ n, logprobs, ...request }: JsonObject): void {
  if (!isAbsent(n) && n !== 1)
    throw new InvalidRequest('n', 'this model gives one answer per request')
  if (logprobs === true) throw new InvalidRequest('logprobs', 'this model states none')
  const { search_parameters: search, enable_search: enabled, plugins } = request
  if (!isAbsent(search) && member(search, 'mode') !== 'off') {
    throw new InvalidRequest('search_parameters', ADVICE)
  }
  if (!isAbsent(enabled) && enabled !== false) throw new InvalidRequest('enable_search', ADVICE)
  if (Array.isArray(plugins) && plugins.length > 0) {
    throw new InvalidRequest('plugins', 'this model has none')
  }
}

const ADVICE = 'is not supported by this model: use web_search_options'

function translateLimit(request: JsonObject, isStrict: boolean, stream: boolean): JsonObject {
  const field = isAbsent(request.max_completion_tokens) ? 'max_tokens' : 'max_completion_tokens'
  const value = request[field]
  if (isAbsent(value)) return {}
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidRequest(field, 'must be a whole number of at least 1')
  }
  if (!isStrict) return { maxOutputTokens: value }
  return { maxOutputTokens: Math.min(value, stream ? STREAM_TOKENS_MAX : WHOLE_TOKENS_MAX) }
}

function translateStop(stop: unknown): JsonObject {
  if (isAbsent(stop)) return {}
  const all: unknown[] = Array.isArray(stop) ? stop : [stop]
  if (!all.every((text) => typeof text === 'string')) {
    throw new InvalidRequest('stop', 'must be a string or an array of strings')
  }
  const filled = all.filter((text) => text !== '')
  if (filled.length > STOPS_MAX) {
    throw new InvalidRequest('stop', `this model takes at most ${STOPS_MAX}`)
  }
  return filled.length > 0 ? { stopSequences: filled } : {}
}

const MODALITIES: ReadonlyMap<unknown, string> = new Map([
  ['text', 'TEXT'],
  ['image', 'IMAGE'],
])

function translateModalities(modalities: unknown): JsonObject {
  if (!Array.isArray(modalities) || modalities.length === 0) return {}
  const words = modalities.map((one) => MODALITIES.get(one))
  if (words.includes(undefined)) {
    throw new InvalidRequest('modalities', 'this model answers in text and images')
  }
  return { responseModalities: words }
}

/** The options of pictures, as routers write them into chat. */
function translatePicture(config: unknown): JsonObject {
  if (!isObject(config)) return {}
  const { aspect_ratio: ratio, image_size: size } = config
  const imageConfig = {
    ...(typeof ratio === 'string' ? { aspectRatio: ratio } : {}),
    ...(typeof size === 'string' ? { imageSize: size } : {}),
  }
  return Object.keys(imageConfig).length > 0 ? { imageConfig } : {}
}

const TIERS: ReadonlyMap<unknown, string | undefined> = new Map([
  ['auto', undefined],
  ['default', undefined],
  ['standard', undefined],
  ['standard_only', undefined],
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['fast', 'priority'],
])

function readTier(tier: unknown): string | undefined {
  if (isAbsent(tier)) return undefined
  if (TIERS.has(tier)) return TIERS.get(tier)
  throw new InvalidRequest('service_tier', 'must be auto, default, flex or priority')
}

interface Thinking {
  readonly config: JsonObject | undefined
  readonly ignored: readonly string[]
}

const BUDGETS: ReadonlyMap<string, number> = new Map([
  ['none', 0],
  ['minimal', 512],
  ['low', 1_024],
  ['medium', 8_192],
  ['high', 24_576],
  ['xhigh', 24_576],
  ['max', 24_576],
])
const BUDGET_MAX = 24_576
/** The smallest budget of a model that always thinks. */
const PRO_BUDGET_MIN = 128
const LEVELS: ReadonlyMap<string, string> = new Map([
  ['none', 'MINIMAL'],
  ['minimal', 'MINIMAL'],
  ['low', 'LOW'],
  ['medium', 'MEDIUM'],
  ['high', 'HIGH'],
  ['xhigh', 'HIGH'],
  ['max', 'HIGH'],
])

/** Thoughts are always requested, since they are billed in any case. */
function translateThinking(request: JsonObject, generation: Generation): Thinking {
  const { reasoning_effort: named, thinking } = request
  const effort = readEffort(named, thinking)
  const budget = readBudget(thinking)
  if (!generation.thinks) {
    const isOn = effort !== undefined && effort !== 'none'
    const field = isAbsent(named) ? 'thinking' : 'reasoning_effort'
    return { config: undefined, ignored: isOn ? [field] : [] }
  }
  const includeThoughts = effort !== 'none'
  if (generation.number < SIGNING) {
    const tokens = budget ?? (effort === undefined ? undefined : BUDGETS.get(effort))
    const least = generation.isPro ? PRO_BUDGET_MIN : 0
    const config = tokens === undefined ? {} : { thinkingBudget: fit(tokens, least) }
    return { config: { includeThoughts, ...config }, ignored: [] }
  }
  const lost = budget === undefined ? [] : ['thinking.budget_tokens']
  const level = effort === undefined ? undefined : LEVELS.get(effort)
  if (level === undefined) return { config: { includeThoughts }, ignored: lost }
  const isLeast = level === 'MINIMAL' && (generation.number >= STRICT || generation.isPro)
  return {
    config: { includeThoughts, thinkingLevel: isLeast ? 'LOW' : level },
    ignored: isLeast ? [...lost, `reasoning_effort=${effort}`] : lost,
  }
}

function fit(tokens: number, least: number): number {
  return Math.min(Math.max(tokens, least), BUDGET_MAX)
}

/**
 * Some chat clients switch thinking on or off, with or without a budget, instead of naming an
 * effort.
 */
function readEffort(named: unknown, thinking: unknown): string | undefined {
  const effort = asString(named)?.toLowerCase()
  if (effort !== undefined && LEVELS.has(effort)) return effort
  if (member(thinking, 'type') === 'disabled') return 'none'
  const budget = readBudget(thinking)
  if (budget === undefined) return undefined
  if (budget === 0) return 'none'
  return budget <= 2_048 ? 'low' : budget <= 8_192 ? 'medium' : 'high'
}

function readBudget(thinking: unknown): number | undefined {
  const budget = member(thinking, 'budget_tokens')
  return typeof budget === 'number' && Number.isSafeInteger(budget) && budget >= 0
    ? budget
    : undefined
}
