/**
 * Options of text requests that change the price, in the terms of price conditions: fields common
 * to all text dialects, and lists of tools.
 */

import { invalidField } from '../../../../base/lib/errors.ts'
import {
  isAbsent,
  isObject,
  type JsonObject,
  member,
  printValue,
} from '../../../../base/lib/json.ts'
import { toBoolean } from '../../../../money/catalog/price/conditions.ts'
import { searchesOf } from '../../../../wire/dialects/chat-over-messages/translate-search.ts'
import { type JsonPath, printPath } from '../../../../wire/dialects/cut-json.ts'
import { foldKey } from '../../../../wire/dialects/json-scan.ts'
import { toNeutralTier } from '../../../../wire/dialects/usage/service-tier.ts'
import type {
  RequestedDimensions,
  RequestedFeature,
  ToolOffer,
} from '../../../../work/pipeline/price/dimensions.ts'
import type { Measure } from './measure.ts'
import { kindOfTool } from './tool-family.ts'
import { findTools, nameOfTool } from './tool-lists.ts'

/** Each is priced by itself, for each route; vendors take no more tools than this. */
const FEATURES_MAX = 128
/** The longest word for a boolean, with blanks around it. */
const WORD_LENGTH_MAX = 16

/** The priced options of one request, collected while reading it. */
export interface PricedOptions {
  readonly facts: Record<string, string | number | boolean>
  readonly features: RequestedFeature[]
  /** Other models that may serve the request, each at its own price. */
  readonly models: string[]
  /** The thinking that a translated request asks for; absent: the vendor's choice. */
  translatedThinking?: RequestedDimensions['translatedThinking']
  /** True if the vendor may call the model more than once, or add input of its own. */
  isHosted: boolean
  /** Allowed calls of vendor-run tools, as far as the request limits them. */
  calls: number
}

function newOptions(): PricedOptions {
  return { facts: {}, features: [], models: [], isHosted: false, calls: 0 }
}

/**
 * Reads tier, speed, region, thinking, caches and audio, which any dialect may have. `marks`:
 * `isDropped` for a dialect whose translators leave out marks of content for caches, and `isMark`
 * where some keep them.
 */
export function readCommon(
  value: JsonObject,
  measure: Measure,
  marks: Pick<RequestedFeature, 'isDropped' | 'isMark'> = {},
): PricedOptions {
  const options = newOptions()
  readTier(options, value.service_tier)
  readWord(options, 'speed', 'speed', value.speed)
  readWord(options, 'inference_geo', 'region', value.inference_geo)
  readThinking(options, value)
  readStorage(options, value.caching)
  options.facts.cache_mode = measure.hasCache ? 'explicit' : 'implicit'
  const { longCache, audioAt } = measure
  if (longCache) {
    const { field, ttl } = longCache
    const known = ttl === '1h' ? ({ unit: 'cache_write_1h_token' } as const) : {}
    options.features.push({ field, value: ttl, ...known, ...marks })
  }
  if (audioAt) {
    const quantity = measure.audioTokens
    const unit = 'audio_input_token'
    options.features.push({ field: audioAt, value: 'input_audio', unit, quantity })
  }
  return options
}

/** Reads the service tier. If absent or `auto`, the channel's account decides. */
function readTier(options: PricedOptions, tier: unknown): void {
  if (isAbsent(tier)) return
  const word = wordOf(tier)
  if (word === 'auto') return
  addStrict(options, 'service_tier', 'service_tier', printValue(tier), toNeutralTier(word))
}

function readWord(options: PricedOptions, field: string, fact: string, value: unknown): void {
  if (isAbsent(value)) return
  addStrict(options, field, fact, printValue(value), wordOf(value))
}

const DEFAULTS: ReadonlySet<string> = new Set(['standard', 'global'])

function addStrict(
  options: PricedOptions,
  field: string,
  fact: string,
  value: string,
  word: string,
): void {
  options.facts[fact] = word
  if (!DEFAULTS.has(word)) options.features.push({ field, value, facts: { [fact]: word } })
}

function wordOf(value: unknown): string {
  return (typeof value === 'string' ? value : String(JSON.stringify(value))).trim().toLowerCase()
}

/**
 * ARK bills the time for which it stores a context: no answer states it, and there is no unit for
 * it.
 */
function readStorage(options: PricedOptions, caching: unknown): void {
  if (isAbsent(caching) || caching === false) return
  const kind = isObject(caching) ? caching.type : caching
  if (isObject(caching) && wordOf(kind) === 'disabled') return
  options.features.push({ field: 'caching', value: isAbsent(kind) ? '' : printValue(kind) })
}

/** Vendors accept "true" and 1 for true, so a caller could otherwise choose the price by them. */
function readThinking(options: PricedOptions, value: JsonObject): void {
  const { enable_thinking: stated } = value
  // Anything else may be as long as the body.
  const isWord = typeof stated !== 'object' && String(stated).length <= WORD_LENGTH_MAX
  const enabled = isWord ? toBoolean(printValue(stated)) : undefined
  const type = member(value.thinking, 'type')
  if (enabled === true || type === 'enabled' || type === 'adaptive') options.facts.thinking = 'on'
  else if (enabled === false || type === 'disabled') options.facts.thinking = 'off'
}

/** Reads the output modalities: audio and images have their own prices. */
export function readModalities(options: PricedOptions, { modalities, audio }: JsonObject): void {
  if (isAbsent(modalities) && isAbsent(audio)) return
  const named: readonly unknown[] = Array.isArray(modalities) ? modalities : [modalities]
  const words = named.map((one) => (isAbsent(one) ? '' : wordOf(one)))
  if (words.includes('audio') || isObject(audio)) {
    options.features.push({ field: 'modalities', value: 'audio', unit: 'audio_output_token' })
  }
  if (words.includes('image')) {
    options.features.push({ field: 'modalities', value: 'image', unit: 'image_output_token' })
  }
}

/** The price of a kind of tool; without a feature it costs only tokens. */
export interface PricedToolKind {
  readonly feature?: Pick<RequestedFeature, 'unit' | 'facts' | 'work'>
  /** Quantity of the unit per call of the tool; 1 if absent. */
  readonly each?: number
  /** True if the unit is billed once, regardless of the number of calls. */
  readonly isOnce?: boolean
  /** False if the caller runs the tool. */
  readonly isHosted: boolean
}

/** A tool that the caller runs. */
export const CLIENT_TOOL: PricedToolKind = { isHosted: false }
/** A vendor-run tool that costs only tokens. */
export const TOKEN_TOOL: PricedToolKind = { isHosted: true }
/** A tool that no price covers. */
export const UNKNOWN_TOOL: PricedToolKind = { isHosted: true, feature: {} }
export const WEB_SEARCH: PricedToolKind = { isHosted: true, feature: { unit: 'web_search_call' } }
export const WEB_FETCH: PricedToolKind = { isHosted: true, feature: { unit: 'web_fetch_call' } }

/** Returns the kind of a function that the vendor runs, which it names with a dollar sign. */
export function kindOfVendorFunction(tool: JsonObject): PricedToolKind | undefined {
  const name = nameOfTool(tool)
  if (!name?.startsWith('$')) return undefined
  return name === '$web_search' ? WEB_SEARCH : UNKNOWN_TOOL
}

/** Throws a 400 that names the first one too many. */
export function refuseTooMany({ features }: PricedOptions): void {
  const surplus = features[FEATURES_MAX]
  if (!surplus) return
  const problem = `at most ${FEATURES_MAX} hosted tools, models and plugins in one request`
  throw invalidField(surplus.field, problem)
}

/** Reads the tools of a request for media; vendors run only web searches for these. */
export function readToolFeatures(value: JsonObject): readonly RequestedFeature[] {
  const options = newOptions()
  readPricedTools(options, value, ({ type }) => (type === 'web_search' ? WEB_SEARCH : UNKNOWN_TOOL))
  refuseTooMany(options)
  return options.features
}

/** Calls of a tool to hold for if the request sets no limit. */
const CALLS_EXPECTED = 3

/** Reads all tools of a request; `kindOf` knows the types of the dialect. */
export function readPricedTools(
  options: PricedOptions,
  value: JsonObject,
  kindOf: (tool: JsonObject) => PricedToolKind,
  callsMax?: number | undefined,
): void {
  const { tools, unclear } = findTools(value)
  for (const path of unclear) {
    options.isHosted = true
    options.features.push({ field: printPath(path), value: 'no list of tools' })
    // The request will be refused, so no further tools are read.
    if (options.features.length > FEATURES_MAX) return
  }
  for (const { tool, path } of tools) {
    readPricedTool(options, tool, path, kindOf, callsMax)
    if (options.features.length > FEATURES_MAX) return
  }
}

function readPricedTool(
  options: PricedOptions,
  tool: JsonObject,
  path: JsonPath,
  kindOf: (tool: JsonObject) => PricedToolKind,
  callsMax: number | undefined,
): void {
  const isUnclear = isMisspelt(tool)
  const kind = isUnclear ? UNKNOWN_TOOL : kindOf(tool)
  if (!kind.isHosted) return
  options.isHosted = true
  const calls = countOf(tool.max_uses) ?? callsMax
  options.calls += calls ?? 0
  if (!kind.feature) return
  const quantity = (kind.each ?? 1) * (kind.isOnce ? 1 : (calls ?? CALLS_EXPECTED))
  const name = nameOfTool(tool)
  options.features.push({
    ...kind.feature,
    field: `${printPath(path)}.type`,
    value: name ?? Object.keys(tool)[0] ?? '',
    ...(kind.feature.unit ? { quantity } : {}),
    ...(kind.feature.unit && calls === undefined && !kind.isOnce ? { isUnlimited: true } : {}),
    ...(kind === WEB_SEARCH ? { translatedQuantity: searchesOf(calls) } : {}),
    // A translator may know the tool and send it, as it does a search.
    isDropped: !isUnclear,
    ...(isUnclear || name === undefined
      ? {}
      : { offer: { path, name, tool, ...statisticsOf(name, kind) } }),
  })
}

function statisticsOf(name: string, { feature }: PricedToolKind): Pick<ToolOffer, 'kind' | 'unit'> {
  return { kind: kindOfTool(name), ...(feature?.unit ? { unit: feature.unit } : {}) }
}

/** Members of a tool that determine its price. */
const DECISIVE: ReadonlySet<string> = new Set([
  'type',
  'model',
  'max_uses',
  'container',
  'environment',
  'partial_images',
  'tools',
])

/** Returns true if a vendor that ignores letter case would find a member that was not priced. */
function isMisspelt(tool: JsonObject): boolean {
  return Object.keys(tool).some((name) => !DECISIVE.has(name) && DECISIVE.has(foldKey(name)))
}

/** Returns a count in a request, rounded up and bounded, or undefined for any other value. */
export function countOf(value: unknown): number | undefined {
  const isCount = typeof value === 'number' && Number.isFinite(value) && value >= 0
  return isCount ? Math.min(Math.ceil(value), 2 ** 40) : undefined
}

/**
 * Returns the combinations of options by which the request may be served: as requested, or by
 * another model.
 */
export function dimensionsOf(options: PricedOptions): RequestedDimensions {
  const { facts, models, features, translatedThinking } = options
  const alternatives = [facts, ...models.map((model) => ({ ...facts, model }))] as const
  return { alternatives, features, translatedThinking }
}
