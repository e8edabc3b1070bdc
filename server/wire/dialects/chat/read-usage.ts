/**
 * Reads the usage of OpenAI-shaped answers: chat completions and chunks, responses, embeddings,
 * images, transcriptions. docs/guides/usage.md lists the fields by vendor.
 */
import { isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import { mergeUsage, readCount } from '../usage/read-count.ts'
import { isNeutralTier, readServedTier } from '../usage/service-tier.ts'
import { readStatedCost, totalCost } from '../usage/stated-cost.ts'
import { isEmpty, largerOfEach, NOTHING_STATED, type UsageReading } from '../usage/usage-reading.ts'
import { readVendorTools, totalCalls } from '../usage/vendor-tools.ts'
import {
  type ReadLifetime,
  readCacheType,
  readStatedReasoning,
  splitTokens,
  totalSides,
} from './split-tokens.ts'

/** Kimi's search is a call in the answer, and its fee is due once for each answer with it. */
const SEARCH_CALL = '$web_search'

export interface ChatUsageOptions {
  /** Returns the requested lifetime of cache writes, if the request states one. */
  readonly writeLifetime?: ReadLifetime | undefined
  /** True if citations are those of a search that is billed per call. */
  readonly asksForSearch?: boolean
  /** True if the vendor bills a search for each answer, which need not show it. */
  readonly billsSearch?: boolean
  /** The model of hosted image generation, where the answer does not name it. */
  readonly imageModel?: string | undefined
  /** Models with which a router may serve the request, by its vendor's names. */
  readonly routing?:
    | { readonly requestedModel: string; readonly standIns: readonly string[] }
    | undefined
}

/** One spoken answer for each choice. */
const SPOKEN_MAX = 128

/** Reads usage from every part of an answer; the last statement of each field wins. */
export interface ChatUsageReader {
  /** Reads a completion, a chunk or a response object. Cheap when it has none of the fields. */
  readonly read: (document: JsonObject) => void
  /** Counts tool calls that the answer shows outside its usage. */
  readonly count: (calls: Quantities) => void
  /** Detects a search and a spoken answer in a message, or in the delta of one. */
  readonly readMessage: (message: unknown) => void
  /** Returns the current reading; the same object until something new was read. */
  readonly reading: () => UsageReading
  /** Returns the usage object for the caller, or undefined before there is one. */
  readonly raw: () => JsonObject | undefined
}

export function createChatUsageReader(options: ChatUsageOptions = {}): ChatUsageReader {
  let usage: unknown
  let toolUsage: unknown
  let tier: unknown
  let model: unknown
  let calls: Quantities = {}
  let hasOutput = false
  const keptIds = new Set<string>()
  let known: UsageReading | undefined = NOTHING_STATED
  return {
    read(document) {
      const { service_tier: servedTier, tool_usage: tools } = document
      for (const part of findUsage(document)) {
        if (!isObject(part)) continue
        usage = mergeUsage(usage, part, readTotals)
        known = undefined
      }
      if (isObject(tools)) {
        toolUsage = mergeUsage(toolUsage, tools, readToolTotals)
        known = undefined
      }
      if (options.routing && document.model !== undefined && document.model !== model) {
        model = document.model
        known = undefined
      }
      if (options.asksForSearch && calls.web_search_call === undefined && listsResults(document)) {
        calls = largerOfEach(calls, SEARCH)
        known = undefined
      }
      const isEcho = servedTier === null || servedTier === 'auto'
      if (servedTier !== undefined && servedTier !== tier && (!isEcho || tier === undefined)) {
        tier = servedTier
        known = undefined
      }
    },
    count(more) {
      calls = largerOfEach(calls, more)
      known = undefined
    },
    readMessage(message) {
      if (options.billsSearch && !hasOutput && holdsOutput(message)) {
        hasOutput = true
        known = undefined
      }
      const spokenId = member(member(message, 'audio'), 'id')
      if (typeof spokenId === 'string' && keptIds.size < SPOKEN_MAX) {
        keptIds.add(spokenId)
        known = undefined
      }
      if (!showsSearch(message, options.asksForSearch ?? false)) return
      calls = largerOfEach(calls, { web_search_call: 1 })
      known = undefined
    },
    reading() {
      known ??= interpret({ usage, tier, model, calls, toolUsage, hasOutput, keptIds }, options)
      return known
    },
    raw: () => (isObject(usage) ? usage : undefined),
  }
}

/**
 * Returns the usage objects of a document, the authoritative one last: some vendors put usage into
 * an extension `x_…` of their own, others into the first choice.
 */
function findUsage(document: JsonObject): readonly unknown[] {
  const { choices, usage } = document
  const first = Array.isArray(choices) ? member(choices[0], 'usage') : undefined
  const found = first === undefined ? [usage] : [first, usage]
  let own: unknown[] | undefined
  for (const name in document) {
    if (!name.startsWith('x_')) continue
    own ??= []
    own.push(member(document[name], 'usage'))
  }
  return own ? [...own.reverse(), ...found] : found
}

/** Reads a whole document at once. */
export function readChatUsage(document: unknown, options: ChatUsageOptions = {}): UsageReading {
  const reader = createChatUsageReader(options)
  if (!isObject(document)) return NOTHING_STATED
  reader.read(document)
  if (Array.isArray(document.choices)) {
    for (const choice of document.choices) reader.readMessage(member(choice, 'message'))
  }
  return reader.reading()
}

interface UsageParts {
  readonly usage: unknown
  readonly tier: unknown
  readonly model: unknown
  readonly calls: Quantities
  readonly toolUsage: unknown
  readonly hasOutput: boolean
  readonly keptIds: ReadonlySet<string>
}

function readTotals(usage: JsonObject): readonly number[] {
  const { calls } = readVendorTools({}, usage)
  return [...totalSides(usage), totalCost(usage), totalCalls(calls)]
}

function readToolTotals(tools: JsonObject): readonly number[] {
  return [totalCalls(readVendorTools({ tool_usage: tools }, {}).calls)]
}

const SEARCH: Quantities = { web_search_call: 1 }

function holdsOutput(message: unknown): boolean {
  const [content, calls] = [member(message, 'content'), member(message, 'tool_calls')]
  return (typeof content === 'string' && content !== '') || Array.isArray(calls)
}

function interpret(parts: UsageParts, options: ChatUsageOptions): UsageReading {
  const { writeLifetime } = options
  const usage: JsonObject = isObject(parts.usage) ? parts.usage : {}
  const tools = readVendorTools({ tool_usage: parts.toolUsage }, usage)
  const tokens = splitTokens(addCitations(usage), writeLifetime)
  const isBilled = options.billsSearch && (parts.hasOutput || isObject(parts.usage))
  const searches = isBilled && !tools.statesSearches ? SEARCH : {}
  const calls = largerOfEach(largerOfEach(tools.calls, parts.calls), searches)
  const quantities = isEmpty(calls) ? tokens : { ...tokens, ...calls }
  const tier = readTier(parts.tier, usage.service_tier)
  const unknown = [...tools.unknown]
  if (tier !== undefined && !isNeutralTier(tier)) unknown.push('service_tier')
  const model = findServedModel(parts.model, options)
  if (model === null) unknown.push('model')
  const facts = readFacts(usage, tier, model ?? undefined)
  const statedCost = readStatedCost(usage)
  const reading: { -readonly [Name in keyof UsageReading]: UsageReading[Name] } = {}
  if (!isEmpty(quantities)) reading.usage = quantities
  if (!isEmpty(facts)) reading.facts = facts
  if (statedCost) reading.statedCost = statedCost
  if (unknown.length > 0) reading.unknownUsage = unknown
  if (parts.keptIds.size > 0) reading.keptIds = [...parts.keptIds]
  return reading
}

/** Prefers the answer's own member to the one that some vendors put into its usage. */
function readTier(answers: unknown, usages: unknown): string | undefined {
  const isInUsage = isNothing(answers) && !isNothing(usages)
  return readServedTier(isInUsage ? usages : answers)
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null
}

/**
 * Returns the fallback model that served the request, by the request's name for it; undefined if it
 * was the requested model, null if the answer does not state which one it was. Vendors add dates.
 */
function findServedModel(model: unknown, { routing }: ChatUsageOptions): string | null | undefined {
  if (!routing) return undefined
  const { requestedModel, standIns } = routing
  if (typeof model !== 'string') return null
  const isNamed = (name: string) => model === name || model.startsWith(name)
  const [found] = [requestedModel, ...standIns].filter(isNamed).sort((a, b) => b.length - a.length)
  if (found === undefined) return null
  return found === requestedModel ? undefined : found
}

/** Perplexity's deep research bills the pages that it read as further input. */
function addCitations(usage: JsonObject): JsonObject {
  const citationTokens = readCount(usage.citation_tokens) ?? 0
  const prompt = readCount(usage.prompt_tokens)
  if (citationTokens === 0 || prompt === undefined) return usage
  return { ...usage, prompt_tokens: prompt + citationTokens }
}

function readFacts(
  usage: JsonObject,
  tier: string | undefined,
  model: string | undefined,
): Record<string, string> {
  const facts: Record<string, string> = {}
  if (tier !== undefined) facts.service_tier = tier
  if (readCacheType(usage) !== undefined) facts.cache_mode = 'explicit'
  if ((readStatedReasoning(usage) ?? 0) > 0) facts.thinking = 'on'
  if (model !== undefined) facts.model = model
  return facts
}

/**
 * Returns true if a message or delta shows a search that is billed per call. Citations count only
 * if the request enabled a search: otherwise they have no fee.
 */
function showsSearch(message: unknown, asksForSearch: boolean): boolean {
  if (!isObject(message)) return false
  const { annotations, tool_calls: calls } = message
  if (asksForSearch && Array.isArray(annotations) && annotations.some(isCitation)) return true
  return Array.isArray(calls) && calls.some(isSearchCall)
}

/** Zhipu lists the results of a search beside the choices, DashScope in an object of them. */
function listsResults({ web_search: results, search_info: info }: JsonObject): boolean {
  return [results, member(info, 'search_results')].some(
    (list) => Array.isArray(list) && list.length > 0,
  )
}

function isCitation(annotation: unknown): boolean {
  return member(annotation, 'type') === 'url_citation'
}

function isSearchCall(call: unknown): boolean {
  return member(member(call, 'function'), 'name') === SEARCH_CALL
}
