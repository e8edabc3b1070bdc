/**
 * What a text request asks for that changes its price, in the words of price conditions: the
 * fields that all text dialects have, and the reading of one list of tools.
 */
import type { Facts } from '../../../catalog/catalog.ts'
import { foldKey } from '../../../dialects/json-scan.ts'
import { toNeutralTier } from '../../../dialects/usage/service-tier.ts'
import { isObject, type JsonObject, member } from '../../../lib/json.ts'
import type { RequestedFeature } from '../../../pipeline/price/dimensions.ts'
import type { Measure } from './measure.ts'

/** Collects what one request asks for. */
export interface Asking {
  readonly facts: Record<string, string | number | boolean>
  readonly features: RequestedFeature[]
  /** Other models that may serve the request, each with a price of its own. */
  readonly models: string[]
  /** True when the vendor may call the model more than once, or read what only it can find. */
  isHosted: boolean
  /** Calls of vendor-run tools that the request allows, where it says so. */
  calls: number
}

export function createAsking(): Asking {
  return { facts: {}, features: [], models: [], isHosted: false, calls: 0 }
}

/** Tier, speed, region, thinking and caches. `value` may hold any of them in any dialect. */
export function readCommon(asking: Asking, value: JsonObject, measure: Measure): void {
  readTier(asking, value.service_tier)
  readWord(asking, 'speed', 'speed', value.speed)
  readWord(asking, 'inference_geo', 'region', value.inference_geo)
  readThinking(asking, value)
  asking.facts.cache_mode = measure.hasCache ? 'explicit' : 'implicit'
  const { longCache, audioAt } = measure
  if (longCache) {
    const { field, ttl } = longCache
    const known = ttl === '1h' ? ({ unit: 'cache_write_1h_token' } as const) : {}
    asking.features.push({ field, value: ttl, ...known })
  }
  if (audioAt) {
    const quantity = measure.audioTokens
    const unit = 'audio_input_token'
    asking.features.push({ field: audioAt, value: 'input_audio', unit, quantity })
  }
}

/** An absent tier and `auto` leave the choice to the channel's account. */
function readTier(asking: Asking, tier: unknown): void {
  if (isAbsent(tier)) return
  const word = wordOf(tier)
  if (word === 'auto') return
  addStrict(asking, 'service_tier', 'service_tier', String(tier), toNeutralTier(word))
}

function readWord(asking: Asking, field: string, fact: string, value: unknown): void {
  if (isAbsent(value)) return
  addStrict(asking, field, fact, String(value), wordOf(value))
}

const DEFAULTS: ReadonlySet<string> = new Set(['standard', 'global'])

function addStrict(asking: Asking, field: string, fact: string, value: string, word: string): void {
  asking.facts[fact] = word
  if (!DEFAULTS.has(word)) asking.features.push({ field, value, facts: { [fact]: word } })
}

function wordOf(value: unknown): string {
  return (typeof value === 'string' ? value : String(JSON.stringify(value))).trim().toLowerCase()
}

function readThinking(asking: Asking, value: JsonObject): void {
  const { enable_thinking: enabled } = value
  const type = member(value.thinking, 'type')
  if (enabled === true || type === 'enabled' || type === 'adaptive') asking.facts.thinking = 'on'
  else if (enabled === false || type === 'disabled') asking.facts.thinking = 'off'
}

export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

/** The audio of an answer has prices of its own. */
export function readModalities(asking: Asking, { modalities, audio }: JsonObject): void {
  if (isAbsent(modalities) && isAbsent(audio)) return
  const named: readonly unknown[] = Array.isArray(modalities) ? modalities : [modalities]
  const wanted = named.map((one) => (isAbsent(one) ? '' : wordOf(one)))
  if (wanted.includes('audio') || isObject(audio)) {
    asking.features.push({ field: 'modalities', value: 'audio', unit: 'audio_output_token' })
  }
  if (wanted.includes('image')) {
    asking.features.push({ field: 'modalities', value: 'image', unit: 'image_output_token' })
  }
}

/** What a kind of vendor-run tool is sold as; a kind without any of it costs tokens alone. */
export interface PricedToolKind {
  readonly feature?: Pick<RequestedFeature, 'unit' | 'facts' | 'work'>
  /** Of the unit, in one call that the vendor makes. */
  readonly each?: number
  /** The unit is paid once, however often the tool is used. */
  readonly isOnce?: boolean
  /** False for what the caller runs itself. */
  readonly isHosted: boolean
}

/** What the caller runs itself. */
export const CLIENT_TOOL: PricedToolKind = { isHosted: false }
/** What the vendor runs and takes nothing but tokens for. */
export const TOKEN_TOOL: PricedToolKind = { isHosted: true }
/** What nothing prices. */
export const UNKNOWN_TOOL: PricedToolKind = { isHosted: true, feature: {} }

/** Calls of a tool that a hold covers where the request names no limit. */
const CALLS_EXPECTED = 3

/** Reads one list of tools; `kindOf` knows the types of the dialect. */
export function readPricedTools(
  asking: Asking,
  tools: unknown,
  field: string,
  kindOf: (tool: JsonObject) => PricedToolKind,
  callsMost: number | undefined,
): void {
  if (!Array.isArray(tools)) return
  for (let index = 0; index < tools.length; index += 1) {
    const tool: unknown = tools[index]
    if (!isObject(tool)) continue
    const kind = isMisspelt(tool) ? UNKNOWN_TOOL : kindOf(tool)
    if (!kind.isHosted) continue
    asking.isHosted = true
    const calls = countOf(tool.max_uses) ?? callsMost
    asking.calls += calls ?? 0
    if (!kind.feature) continue
    const quantity = (kind.each ?? 1) * (kind.isOnce ? 1 : (calls ?? CALLS_EXPECTED))
    asking.features.push({
      ...kind.feature,
      field: `${field}[${index}].type`,
      value: typeof tool.type === 'string' ? tool.type : (Object.keys(tool)[0] ?? ''),
      ...(kind.feature.unit ? { quantity } : {}),
      isDropped: true,
    })
  }
}

/** Members of a tool that decide what it costs. */
const DECISIVE: ReadonlySet<string> = new Set([
  'type',
  'model',
  'max_uses',
  'container',
  'environment',
  'partial_images',
  'tools',
])

/** Some vendors match names whatever their letter case, and would read what is not priced. */
function isMisspelt(tool: JsonObject): boolean {
  return Object.keys(tool).some((name) => !DECISIVE.has(name) && DECISIVE.has(foldKey(name)))
}

/** A count that a caller names; anything else names none. */
export function countOf(value: unknown): number | undefined {
  const isCount = typeof value === 'number' && Number.isFinite(value) && value >= 0
  return isCount ? Math.min(Math.ceil(value), 2 ** 40) : undefined
}

/** The facts of a request: what it asked for, and each other model that may serve it. */
export function alternativesOf({ facts, models }: Asking): readonly [Facts, ...Facts[]] {
  return [facts, ...models.map((model) => ({ ...facts, model }))]
}
