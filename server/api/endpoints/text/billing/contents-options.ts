/** Reads the options of a contents request that change its price. */
import { invalidField } from '../../../../base/lib/errors.ts'
import { isAbsent, type JsonObject } from '../../../../base/lib/json.ts'
import type { Measure } from './measure.ts'
import { inCamelCase, toList } from './measure-contents.ts'
import {
  CLIENT_TOOL,
  type PricedOptions,
  type PricedToolKind,
  readCommon,
  readModalities,
  TOKEN_TOOL,
  UNKNOWN_TOOL,
  WEB_SEARCH,
} from './priced-options.ts'

/** Tools by their member; one with another member has no price. */
const KINDS: ReadonlyMap<string, PricedToolKind> = new Map([
  ['functionDeclarations', CLIENT_TOOL],
  ['computerUse', CLIENT_TOOL],
  ['googleSearch', WEB_SEARCH],
  ['googleSearchRetrieval', WEB_SEARCH],
  ['urlContext', TOKEN_TOOL],
  ['codeExecution', TOKEN_TOOL],
])
/** Searches to hold for: a request sets no limit. */
const SEARCHES = 5

export function readContentsOptions(value: JsonObject, measure: Measure): PricedOptions {
  const { serviceTier, tools, generationConfig, cachedContent } = inCamelCase(value, '')
  // The named object belongs to the channel's account at the vendor, and its storage is billed by
  // the hour.
  if (!isAbsent(cachedContent)) throw invalidField('cachedContent', 'is not offered')
  const generation = inCamelCase(generationConfig, 'generationConfig')
  refuseOtherSpellings(serviceTier, generation)
  const options = readCommon(isUnset(serviceTier) ? {} : { service_tier: serviceTier }, measure)
  readModalities(options, { modalities: generation.responseModalities })
  for (const [position, tool] of toList(tools).entries()) {
    const field = `tools[${position}]`
    for (const name of Object.keys(inCamelCase(tool, field))) readTool(options, field, name)
  }
  return options
}

/**
 * Throws for counts written as strings and words written as numbers: the vendor accepts both, but
 * price conditions do not.
 */
function refuseOtherSpellings(tier: unknown, generation: JsonObject): void {
  if (!isAbsent(tier) && typeof tier !== 'string') throw invalidField('serviceTier', WORD)
  for (const name of ['candidateCount', 'maxOutputTokens']) {
    const count = generation[name]
    if (isAbsent(count) || typeof count === 'number') continue
    throw invalidField(`generationConfig.${name}`, 'must be a number')
  }
  const words = toList(generation.responseModalities)
  if (words.every((word) => typeof word === 'string')) return
  throw invalidField('generationConfig.responseModalities', WORD)
}

const WORD = 'must be a word, not its number'

function isUnset(tier: unknown): boolean {
  return typeof tier !== 'string' || tier.toLowerCase() === 'unspecified'
}

function readTool(options: PricedOptions, field: string, name: string): void {
  const { isHosted, feature } = KINDS.get(name) ?? UNKNOWN_TOOL
  if (!isHosted) return
  options.isHosted = true
  if (!feature) return
  const searches = feature.unit ? { quantity: SEARCHES, isUnlimited: true } : {}
  options.features.push({ ...feature, field: `${field}.${name}`, value: name, ...searches })
}
