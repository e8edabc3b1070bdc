/** Reads the passes of one answer: compactions, advisors and fallbacks besides the model called. */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { Quantities, Unit } from '../../../base/lib/units.ts'
import type { ModelPass } from '../relay.ts'
import { addCounts, readCount } from '../usage/read-count.ts'
import type { Tally } from '../usage/usage-reading.ts'
import type { WriteLifetime } from '../usage/write-lifetime.ts'
import { readCounts } from './read-counts.ts'
import { type Handover, isFreeCategory } from './refusals.ts'

export interface Iterations {
  /** Usage of the model called, in all of its passes. */
  readonly usage: Quantities
  readonly passes: readonly ModelPass[]
  readonly unknown: readonly string[]
}

/** The models that declined, as the rest of the answer states them. */
export interface Declines {
  readonly handovers: readonly Handover[]
  /** True if the model of the last attempt declined as well, free of charge. */
  readonly isLastFree: boolean
}

const NO_DECLINES: Declines = { handovers: [], isLastFree: false }

/** Passes of the model that was called, unless they name one of its fallbacks. */
const OWN = new Set<unknown>(['message', 'compaction'])

const ROLES: ReadonlyMap<unknown, string> = new Map([
  ['advisor_message', 'advisor'],
  ['fallback_message', 'fallback'],
])

/**
 * Reads `usage.iterations`, whose entries are what is billed (docs/protocols/anthropic.md#passes).
 * Returns undefined for an empty list: then the counts beside it apply.
 */
export function readIterations(
  list: unknown,
  lifetime: WriteLifetime,
  declines = NO_DECLINES,
): Iterations | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  const usage: Tally = { input_token: 0, output_token: 0 }
  const passes: ModelPass[] = []
  const unknown: string[] = []
  const free = findFree(list, declines)
  const fallbacks = listFallbacks(list, declines)
  for (const [index, entry] of list.entries()) {
    const path = `usage.iterations[${index}]`
    if (free.has(index)) continue
    if (!isObject(entry)) unknown.push(path)
    else if (OWN.has(entry.type) && !fallbacks.has(entry.model)) {
      add(usage, readCounts(entry, lifetime))
    } else readPass(entry, path, { passes, unknown, lifetime })
  }
  return { usage: dropUnstated(usage), passes, unknown }
}

/** Only the last entry of a fallback has a type of its own: the model marks those before it. */
function listFallbacks(list: readonly unknown[], { handovers }: Declines): ReadonlySet<unknown> {
  const ended = list.filter(isFallback).map((entry) => member(entry, 'model'))
  const models = [...ended, ...handovers.map(({ to }) => to)]
  return new Set(models.filter((model) => asString(model)))
}

interface Attempt {
  readonly entries: number[]
  wroteAnything: boolean
}

/** Returns the entries of attempts that declined before any output, in a category that is free. */
function findFree(
  list: readonly unknown[],
  { handovers, isLastFree }: Declines,
): ReadonlySet<number> {
  const attempts = listAttempts(list)
  const isExplained = handovers.length === attempts.length - 1
  const free = attempts.filter(({ wroteAnything }, at) => {
    if (at === attempts.length - 1) return isLastFree
    return !wroteAnything && isFreeCategory(isExplained ? handovers[at]?.category : undefined)
  })
  return new Set(free.flatMap(({ entries }) => entries))
}

/** Lists the attempts of the models in turn; without a fallback there is one. */
function listAttempts(list: readonly unknown[]): readonly Attempt[] {
  const hasFallback = list.some(isFallback)
  const attempts: Attempt[] = []
  let last: unknown
  for (const [index, entry] of list.entries()) {
    if (member(entry, 'type') !== 'message' && !isFallback(entry)) continue
    const model = asString(member(entry, 'model')) ?? last
    const isNext = attempts.length === 0 || (hasFallback && model !== last)
    if (isNext) attempts.push({ entries: [], wroteAnything: false })
    last = model
    const attempt = attempts.at(-1)
    attempt?.entries.push(index)
    if (attempt) attempt.wroteAnything ||= readCount(member(entry, 'output_tokens')) !== 0
  }
  return attempts
}

interface PassSink {
  readonly passes: ModelPass[]
  readonly unknown: string[]
  readonly lifetime: WriteLifetime
}

function readPass(entry: JsonObject, path: string, { passes, unknown, lifetime }: PassSink): void {
  const role = OWN.has(entry.type) ? 'fallback' : ROLES.get(entry.type)
  const model = asString(entry.model)
  const counts = readCounts(entry, lifetime)
  const isStated = counts.input_token !== undefined && counts.output_token !== undefined
  if (role === undefined) unknown.push(`${path}.type`)
  else if (!model) unknown.push(`${path}.model`)
  else if (!isStated) unknown.push(path)
  else passes.push({ model, role, usage: counts })
}

function isFallback(entry: unknown): boolean {
  return member(entry, 'type') === 'fallback_message'
}

/**
 * Adds counts. A side that one pass does not state becomes NaN, and is therefore not stated in the
 * sum.
 */
function add(sum: Tally, counts: Quantities): void {
  const units = new Set([...Object.keys(sum), ...Object.keys(counts)]) as Set<Unit>
  for (const unit of units) {
    const isNeeded = unit === 'input_token' || unit === 'output_token'
    const more = counts[unit] ?? (isNeeded ? Number.NaN : 0)
    sum[unit] = (sum[unit] ?? 0) + more
  }
}

function dropUnstated(sum: Tally): Quantities {
  return Object.fromEntries(
    Object.entries(sum).filter(([, count]) => addCounts(count) !== undefined),
  )
}
