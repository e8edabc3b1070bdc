/**
 * Reads the usage of an answer in units that do not overlap
 * (docs/protocols/google.md#usage). Its counts are running totals: the last statement counts.
 */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import { addCounts, mergeUsage, readCount } from '../usage/read-count.ts'
import { isNeutralTier, readServedTier } from '../usage/service-tier.ts'
import { NOTHING_STATED, type Tally, tally, type UsageReading } from '../usage/usage-reading.ts'

export interface ContentsUsageOptions {
  /** True if each search query is billed; otherwise searching is billed once for the prompt. */
  readonly billsQueries: boolean
  /** The service tier from a header of the answer. */
  readonly servedTier?: string | undefined
}

/**
 * Tokens of a picture of a common size. Used where the usage does not separate pictures from text.
 */
const PICTURE_TOKENS = 1_290
const QUERIES_MAX = 1_000
const QUERY_LISTS = ['webSearchQueries', 'imageSearchQueries']

export class ContentsUsage {
  private readonly options: ContentsUsageOptions
  private usage: unknown
  private readonly queries = new Set<string>()
  private hasChunks = false
  private hasPages = false
  private pictures = 0
  private hasMedia = false
  private hasOutput = false
  private isBlocked = false
  private known: UsageReading | undefined

  constructor(options: ContentsUsageOptions) {
    this.options = options
  }

  /** Reads an answer, or a piece of one. */
  read({ usageMetadata: usage }: JsonObject): void {
    if (!isObject(usage)) return
    const mayLower = correctsPrompt(this.usage, usage)
    this.usage = mergeUsage(this.usage, usage, mayLower ? readWritten : readTotals)
    this.known = undefined
  }

  /** Records the searches that a candidate cites. */
  noteGrounding(metadata: unknown): void {
    if (!isObject(metadata)) return
    for (const name of QUERY_LISTS) {
      const list = metadata[name]
      if (!Array.isArray(list)) continue
      for (const query of list) {
        const text = asString(query)?.trim()
        if (text && this.queries.size < QUERIES_MAX) this.queries.add(text)
      }
    }
    const { groundingChunks: chunks } = metadata
    this.hasChunks ||= Array.isArray(chunks) && chunks.length > 0
    this.known = undefined
  }

  /** Records pages that the prompt named: an answer that cites them alone did not search. */
  notePages(metadata: unknown): void {
    if (!isObject(metadata)) return
    this.hasPages = true
    this.known = undefined
  }

  noteOutput(pictures: number): void {
    if (this.hasOutput && pictures === 0) return
    this.hasOutput = true
    this.pictures += pictures
    this.known = undefined
  }

  /** Records sound, or another medium except pictures, in the answer. */
  noteMedia(): void {
    this.hasMedia = true
    this.hasOutput = true
    this.known = undefined
  }

  /**
   * Records that the prompt was refused: the vendor has generated nothing, whatever the answer
   * contains.
   */
  noteBlocked(): void {
    this.isBlocked = true
    this.known = undefined
  }

  /** The distinct queries, in order. */
  searches(): readonly string[] {
    return [...this.queries]
  }

  reading(): UsageReading {
    this.known ??= this.interpret()
    return this.known
  }

  /** Thinking tokens, which are part of the output. */
  thoughts(): number | undefined {
    return readCount(member(this.usage, 'thoughtsTokenCount'))
  }

  private interpret(): UsageReading {
    const { usage, pictures } = this
    const searches = this.countSearches()
    const isLost = (pictures > 0 || this.hasMedia) && readOutput(usage, true) === undefined
    const nothing = this.isBlocked && !this.hasOutput ? { output_token: 0 } : {}
    const stated = { ...nothing, ...(isObject(usage) ? this.readTokens(usage) : {}) }
    const tier = this.readTier()
    const unknown = [
      ...(isObject(usage) ? listUnknown(usage) : []),
      ...(tier !== undefined && !isNeutralTier(tier) ? ['service_tier'] : []),
      // Their tokens cost many times those of text: an estimate by bytes would be wrong.
      ...(isLost ? ['usageMetadata'] : []),
    ]
    const quantities = { ...stated, ...(searches > 0 ? { web_search_call: searches } : {}) }
    const facts: Record<string, string> = {}
    if (tier !== undefined) facts.service_tier = tier
    if ((this.thoughts() ?? 0) > 0) facts.thinking = 'on'
    if (Object.keys(quantities).length + unknown.length === 0 && tier === undefined) {
      return NOTHING_STATED
    }
    return {
      ...(Object.keys(quantities).length > 0 ? { usage: quantities } : {}),
      ...(Object.keys(facts).length > 0 ? { facts } : {}),
      ...(unknown.length > 0 ? { unknownUsage: unknown } : {}),
    }
  }

  private countSearches(): number {
    const { size } = this.queries
    if (this.options.billsQueries) return size
    return size > 0 || (this.hasChunks && !this.hasPages) ? 1 : 0
  }

  private readTokens(usage: JsonObject): Quantities {
    const quantities: Tally = {}
    addInput(quantities, usage)
    const output = readOutput(usage, this.hasOutput)
    if (output !== undefined)
      addOutput(quantities, usage.candidatesTokensDetails, output, this.pictures)
    return quantities
  }

  private readTier(): string | undefined {
    const { usage } = this
    const traffic = asString(member(usage, 'trafficType'))?.toUpperCase()
    if (traffic !== undefined && TRAFFIC.has(traffic)) return TRAFFIC.get(traffic)
    const stated = asString(member(usage, 'serviceTier')) ?? this.options.servedTier ?? traffic
    if (stated === undefined || UNSTATED.has(stated.toLowerCase())) return undefined
    return readServedTier(stated)
  }
}

const TRAFFIC: ReadonlyMap<string, string> = new Map([
  ['ON_DEMAND', 'standard'],
  ['ON_DEMAND_PRIORITY', 'fast'],
  ['ON_DEMAND_FLEX', 'flex'],
  ['PROVISIONED_THROUGHPUT', 'prepaid'],
])
const UNSTATED: ReadonlySet<string> = new Set([
  'unspecified',
  'service_tier_unspecified',
  'traffic_type_unspecified',
])

/**
 * Returns true if the later statement may lower the prompt: the vendor estimates it in the pieces
 * of a stream, and corrects it in the last. That one has the whole output, and its parts add up.
 */
function correctsPrompt(earlier: unknown, later: JsonObject): boolean {
  const prompt = readCount(later.promptTokenCount) ?? 0
  const tools = readCount(later.toolUsePromptTokenCount) ?? 0
  const candidates = readCount(later.candidatesTokenCount) ?? 0
  const written = candidates + (readCount(later.thoughtsTokenCount) ?? 0)
  const isWhole = prompt > 0 && prompt + tools + written === readCount(later.totalTokenCount)
  return isWhole && written >= (readOutput(earlier, true) ?? 0)
}

const readWritten = (usage: JsonObject): readonly number[] => [readOutput(usage, true) ?? 0]

function readTotals(usage: JsonObject): readonly number[] {
  const { promptTokenCount: prompt, toolUsePromptTokenCount: tools } = usage
  return [(readCount(prompt) ?? 0) + (readCount(tools) ?? 0), readOutput(usage, true) ?? 0]
}

/** Adds up one modality of a list of details. */
function countOf(details: unknown, modality: string): number {
  if (!Array.isArray(details)) return 0
  let sum = 0
  for (const one of details) {
    if (modalityOf(one) === modality) sum += readCount(member(one, 'tokenCount')) ?? 0
  }
  return sum
}

function modalityOf(one: unknown): string {
  return asString(member(one, 'modality'))?.toUpperCase() ?? ''
}

/** Subtracts parts from a total. The result is never negative, whatever the parts state. */
class Rest {
  left: number

  constructor(total: number) {
    this.left = total
  }

  take(count: number): number {
    const taken = Math.min(Math.max(0, count), this.left)
    this.left -= taken
    return taken
  }
}

/** The prompt's count includes cached tokens, but not what tools added to the input. */
function addInput(quantities: Tally, usage: JsonObject): void {
  const prompt = readCount(usage.promptTokenCount)
  const tools = readCount(usage.toolUsePromptTokenCount) ?? 0
  if (prompt === undefined || addCounts(prompt, tools) === undefined) return
  const { promptTokensDetails: parts, cacheTokensDetails: hits } = usage
  const { toolUsePromptTokensDetails: found } = usage
  const all = new Rest(prompt)
  const cached = new Rest(all.take(readCount(usage.cachedContentTokenCount) ?? 0))
  const fresh = new Rest(all.left + tools)
  const cachedOf = (modality: string) => cached.take(countOf(hits, modality))
  const freshOf = (modality: string, fromCache: number) =>
    fresh.take(countOf(parts, modality) - fromCache + countOf(found, modality))
  const audio = cachedOf('AUDIO')
  const images = cachedOf('IMAGE')
  tally(quantities, 'cached_audio_input_token', audio)
  tally(quantities, 'cached_image_input_token', images)
  tally(quantities, 'cached_input_token', cached.left)
  tally(quantities, 'audio_input_token', freshOf('AUDIO', audio))
  tally(quantities, 'image_input_token', freshOf('IMAGE', images))
  tally(quantities, 'video_input_token', freshOf('VIDEO', countOf(hits, 'VIDEO')))
  quantities.input_token = fresh.left
}

/** No model thinks longer. A total that exceeds its parts by more is a mistake. */
const THOUGHTS_MAX = 131_072

/**
 * Returns the output including thoughts; undefined if it is not stated. If both parts are stated
 * they are billed, and the total only decides whether the candidates include the thoughts. A part
 * that is not stated is the total minus the other part.
 */
function readOutput(usage: unknown, hasOutput: boolean): number | undefined {
  if (!isObject(usage)) return undefined
  const { candidatesTokenCount, thoughtsTokenCount, totalTokenCount } = usage
  const [candidates, thoughts] = [readCount(candidatesTokenCount), readCount(thoughtsTokenCount)]
  const sum = addCounts(candidates ?? 0, thoughts ?? 0)
  if (sum === undefined) return undefined
  const prompt = readCount(usage.promptTokenCount)
  const total = readCount(totalTokenCount)
  const input = (prompt ?? 0) + (readCount(usage.toolUsePromptTokenCount) ?? 0)
  const rest = prompt === undefined || total === undefined ? undefined : total - input
  if (candidates !== undefined && thoughts !== undefined) {
    return thoughts > 0 && candidates >= thoughts && rest === candidates ? candidates : sum
  }
  if (candidates !== undefined || thoughts !== undefined) {
    const isHidden = rest !== undefined && rest > sum && rest - sum <= THOUGHTS_MAX
    return isHidden ? rest : sum
  }
  if (rest !== undefined && rest > 0) return rest
  // A count of only the prompt, at the beginning of a stream, does not mean that the output is
  // free.
  return rest === 0 && !hasOutput ? 0 : undefined
}

function addOutput(quantities: Tally, details: unknown, output: number, pictures: number): void {
  const rest = new Rest(output)
  const stated = countOf(details, 'IMAGE')
  const images = stated > 0 ? stated : pictures * PICTURE_TOKENS
  tally(quantities, 'image_output_token', rest.take(images))
  tally(quantities, 'audio_output_token', rest.take(countOf(details, 'AUDIO')))
  quantities.output_token = rest.left
}

const KNOWN: ReadonlySet<string> = new Set([
  'promptTokenCount',
  // Answers since October 2026 state the prompt twice.
  'rawPromptTokenCount',
  'cachedContentTokenCount',
  'toolUsePromptTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'totalTokenCount',
])

/** Modalities that have a price of their own or that of text, by the list that states them. */
const INPUT_MODALITIES = ['TEXT', 'IMAGE', 'AUDIO', 'VIDEO', 'DOCUMENT', 'MODALITY_UNSPECIFIED', '']
const MODALITIES: Readonly<Record<string, readonly string[]>> = {
  promptTokensDetails: INPUT_MODALITIES,
  cacheTokensDetails: INPUT_MODALITIES,
  toolUsePromptTokensDetails: INPUT_MODALITIES,
  candidatesTokensDetails: ['TEXT', 'IMAGE', 'AUDIO', 'DOCUMENT', 'MODALITY_UNSPECIFIED', ''],
}

/** Returns the names of counts above zero without a unit: the vendor may bill them. */
function listUnknown(usage: JsonObject): string[] {
  const names = Object.keys(usage).filter((name) => {
    if (hasUnknownModality(usage[name], MODALITIES[name])) return true
    return name.endsWith('Count') && !KNOWN.has(name) && (readCount(usage[name]) ?? 0) > 0
  })
  return names.map((name) => `usageMetadata.${name}`)
}

function hasUnknownModality(details: unknown, known: readonly string[] | undefined): boolean {
  if (!known || !Array.isArray(details)) return false
  return details.some((one) => {
    return (readCount(member(one, 'tokenCount')) ?? 0) > 0 && !known.includes(modalityOf(one))
  })
}
