/**
 * Reads the usage of an answer of the messages format, in units that do not overlap.
 * docs/guides/usage.md#messages lists the fields.
 */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import type { ContainerUse } from '../relay.ts'
import { readCount } from '../usage/read-count.ts'
import { isNeutralTier, readServedTier } from '../usage/service-tier.ts'
import { readStatedCost } from '../usage/stated-cost.ts'
import { largerOfEach, NOTHING_STATED, type UsageReading } from '../usage/usage-reading.ts'
import { readVendorTools } from '../usage/vendor-tools.ts'
import type { WriteLifetime } from '../usage/write-lifetime.ts'
import { closeUsage, mergeMessagesUsage, withoutPlaceholders } from './merge-usage.ts'
import { readCounts } from './read-counts.ts'
import { type Declines, type Iterations, readIterations } from './read-iterations.ts'
import { type Handover, isFreeCategory, readHandover, wroteNothing } from './refusals.ts'

export interface MessagesUsageOptions {
  /**
   * Returns the lifetime of the request's cache writes; called only if the answer states none.
   * Defaults to five minutes, as in the format.
   */
  readonly writeLifetime?: (() => WriteLifetime) | undefined
  /** True where the request's tools make its container free of charge. */
  readonly isContainerFree?: (() => boolean) | undefined
}

/** Reads usage from the parts of one answer; later counts are totals, not increments. */
export interface MessagesUsageReader {
  /** `message_start`: its output count is only a placeholder. */
  readonly start: (message: unknown) => void
  /** `content_block_start`: results of searches are counted where usage does not. */
  readonly block: (block: unknown) => void
  /** `message_delta`. */
  readonly delta: (event: JsonObject) => void
  /** An error or the end, beside which some vendors state usage. */
  readonly other: (event: JsonObject) => void
  /** A whole message. */
  readonly whole: (message: JsonObject) => void
  /** Returns the current reading; the same object until something new was read. */
  readonly reading: () => UsageReading
  /** Reasoning tokens, which are a part of the output. */
  readonly reasoning: () => number | undefined
}

/** The minimum that a container is billed; the answer does not state its time. */
const CONTAINER_MINUTES = 5
/** A limit far above the number of fallback models in any request. */
const HANDOVERS_MAX = 100

export function createMessagesUsageReader(options: MessagesUsageOptions = {}): MessagesUsageReader {
  const answer: Answer = {
    usage: undefined,
    hasContainer: false,
    blocks: 0,
    handovers: [],
    searches: 0,
  }
  let known: UsageReading | undefined = NOTHING_STATED
  const noteBlock = (block: unknown) => {
    const handover = readHandover(block)
    answer.blocks = handover ? 0 : answer.blocks + 1
    if (handover && answer.handovers.length < HANDOVERS_MAX) answer.handovers.push(handover)
    if (isSearchResult(block)) answer.searches += 1
  }
  const take = (usage: unknown) => {
    answer.usage = mergeMessagesUsage(answer.usage, usage)
    known = undefined
  }
  const noteEnd = (source: unknown) => {
    const container = member(source, 'container')
    answer.hasContainer ||= isObject(container)
    answer.containerId = asString(member(container, 'id')) ?? answer.containerId
    answer.stopReason = asString(member(source, 'stop_reason')) ?? answer.stopReason
    answer.category = member(member(source, 'stop_details'), 'category') ?? answer.category
  }
  return {
    start(message) {
      const usage = withoutPlaceholders(member(message, 'usage'))
      answer.opening = mergeMessagesUsage(answer.opening, usage)
      take(usage)
      noteEnd(message)
    },
    block(block) {
      noteBlock(block)
      known = undefined
    },
    delta(event) {
      take(event.usage)
      answer.stated = mergeMessagesUsage(answer.stated, event.usage)
      const isEnd = typeof member(event.delta, 'stop_reason') === 'string'
      if (isEnd && answer.stopReason === undefined) {
        answer.usage = closeUsage(answer.opening, answer.stated)
      }
      noteEnd(event.delta)
    },
    other(event) {
      if (isObject(event.usage)) take(event.usage)
    },
    whole(message) {
      take(message.usage)
      noteEnd(message)
      if (Array.isArray(message.content)) message.content.forEach(noteBlock)
    },
    reading() {
      known ??= interpret(answer, options)
      return known
    },
    reasoning: () =>
      readCount(member(member(answer.usage, 'output_tokens_details'), 'thinking_tokens')),
  }
}

/** The usage of a whole message. */
export function readMessagesUsage(
  message: JsonObject,
  options: MessagesUsageOptions = {},
): UsageReading {
  const reader = createMessagesUsageReader(options)
  reader.whole(message)
  return reader.reading()
}

interface Answer {
  usage: unknown
  /** The part of `usage` from `message_start`, and that from the events behind it. */
  opening?: unknown
  stated?: unknown
  stopReason?: string | undefined
  /** The category of a refusal. */
  category?: unknown
  hasContainer: boolean
  containerId?: string | undefined
  /** Blocks of content of the model that ended the answer. */
  blocks: number
  readonly handovers: Handover[]
  /** Results of searches that did not fail. */
  searches: number
  /** The last list of passes with its reading, which is kept because the list may be long. */
  iterations?: Declines & { readonly list: unknown; readonly read: Iterations | undefined }
}

function readIterationsOnce(
  answer: Answer,
  lifetime: WriteLifetime,
  isLastFree: boolean,
): Iterations | undefined {
  const list = member(answer.usage, 'iterations')
  const { iterations: known } = answer
  const isKnown = known?.list === list && known?.isLastFree === isLastFree
  if (isKnown && known?.handovers.length === answer.handovers.length) return known?.read
  const declines = { handovers: [...answer.handovers], isLastFree }
  answer.iterations = { ...declines, list, read: readIterations(list, lifetime, declines) }
  return answer.iterations.read
}

/** Some vendors run searches without counting them. */
function isSearchResult(block: unknown): boolean {
  if (member(block, 'type') !== 'web_search_tool_result') return false
  return !asString(member(member(block, 'content'), 'type'))?.endsWith('_error')
}

function interpret(answer: Answer, options: MessagesUsageOptions): UsageReading {
  if (!isObject(answer.usage)) return NOTHING_STATED
  const { usage } = answer
  const lifetime = options.writeLifetime?.() ?? '5m'
  const tools = readVendorTools({}, usage)
  const isFree = isFreeRefusal(answer, usage)
  const iterations = readIterationsOnce(answer, lifetime, isFree)
  const tokens = iterations?.usage ?? (isFree ? FREE : readCounts(usage, lifetime))
  // Tools may have run for a model that declined in the middle, before the last one.
  const isNothing = isFree && answer.handovers.length === 0
  const calls = isNothing ? {} : countCalls(answer, tools.calls, options)
  const quantities = { ...tokens, ...calls }
  const tier = readServedTier(usage.service_tier)
  const unknown = [...tools.unknown, ...(iterations?.unknown ?? []), ...findUnknown(usage)]
  if (tier !== undefined && !isNeutralTier(tier)) unknown.push('usage.service_tier')
  const facts = readFacts(usage, tier)
  const statedCost = readStatedCost(usage)
  const containers = quantities.container_minute ? listContainers(answer) : []
  const passes = iterations?.passes ?? []
  return {
    ...(Object.keys(quantities).length > 0 ? { usage: quantities } : {}),
    ...(passes.length > 0 ? { passes } : {}),
    ...(containers.length > 0 ? { containers } : {}),
    ...(answer.containerId === undefined ? {} : { keptIds: [answer.containerId] }),
    ...(Object.keys(facts).length > 0 ? { facts } : {}),
    ...(statedCost ? { statedCost } : {}),
    ...(unknown.length > 0 ? { unknownUsage: unknown } : {}),
  }
}

function listContainers({ containerId: id }: Answer): readonly ContainerUse[] {
  return id === undefined ? [] : [{ id, minutes: CONTAINER_MINUTES }]
}

const FREE: Quantities = { input_token: 0, output_token: 0 }

/** Some refusals before any output show their usage and are not billed. */
function isFreeRefusal({ stopReason, blocks, category }: Answer, usage: JsonObject): boolean {
  const isRefused = stopReason === 'refusal' && blocks === 0
  return isRefused && wroteNothing(usage) && isFreeCategory(category)
}

function countCalls(
  answer: Answer,
  statedCalls: Quantities,
  { isContainerFree }: MessagesUsageOptions,
): Quantities {
  const isBilled = answer.hasContainer && !isContainerFree?.()
  const searches = statedCalls.web_search_call === undefined ? answer.searches : 0
  return largerOfEach(statedCalls, {
    ...(searches > 0 ? { web_search_call: searches } : {}),
    ...(isBilled ? { container_minute: CONTAINER_MINUTES } : {}),
  })
}

function readFacts(usage: JsonObject, tier: string | undefined): Record<string, string> {
  const speed = asString(usage.speed)?.toLowerCase()
  const region = asString(usage.inference_geo)?.toLowerCase()
  return {
    ...(tier === undefined ? {} : { service_tier: tier }),
    ...(speed ? { speed } : {}),
    ...(region && region !== 'not_available' ? { region } : {}),
  }
}

/** Fields of quantities that are read, or that are parts of others and inform only. */
const KNOWN = new Set([
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'total_tokens',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'thinking_tokens',
  'text_tokens',
  'image_tokens',
  'prompt_cache_hit_tokens',
  'prompt_cache_miss_tokens',
])
const LIFETIMES = new Set(['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'])
const QUANTITY = /_(?:tokens|requests|calls|pages|seconds|minutes)$/

/** Names the counts above zero that no unit represents: the vendor may bill them. */
function findUnknown(usage: JsonObject): string[] {
  const { cache_creation: split } = usage
  const isUnknown = (known: ReadonlySet<string>) => (entry: [string, unknown]) =>
    QUANTITY.test(entry[0]) && !known.has(entry[0]) && (readCount(entry[1]) ?? 0) > 0
  const fields = Object.entries(usage).filter(isUnknown(KNOWN))
  const lifetimes = isObject(split) ? Object.entries(split).filter(isUnknown(LIFETIMES)) : []
  return [
    ...fields.map(([name]) => `usage.${name}`),
    ...lifetimes.map(([name]) => `usage.cache_creation.${name}`),
  ]
}
