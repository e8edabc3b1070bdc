/** Reads the passes of one answer: compactions, advisors and fallbacks beside the model called. */
import { asString, isObject, type JsonObject } from '../../../base/lib/json.ts'
import type { Quantities, Unit } from '../../../base/lib/units.ts'
import type { ModelPass } from '../relay.ts'
import { addCounts, readCount } from '../usage/read-count.ts'
import type { Tally } from '../usage/usage-reading.ts'
import type { WriteLifetime } from '../usage/write-lifetime.ts'
import { readCounts } from './read-counts.ts'

export interface Iterations {
  /** Usage of the model called, in all of its passes. */
  readonly usage: Quantities
  readonly passes: readonly ModelPass[]
  readonly unknown: readonly string[]
}

/** Passes of the model that was called. */
const OWN = new Set<unknown>(['message', 'compaction'])

const ROLES: ReadonlyMap<unknown, string> = new Map([
  ['advisor_message', 'advisor'],
  ['fallback_message', 'fallback'],
])

/**
 * Reads `usage.iterations`, whose entries are what is billed (docs/protocols/anthropic.md#passes).
 * An attempt without output before a fallback is free. Returns undefined for an empty list: then
 * the counts beside it hold.
 */
export function readIterations(list: unknown, lifetime: WriteLifetime): Iterations | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  const usage: Tally = { input_token: 0, output_token: 0 }
  const passes: ModelPass[] = []
  const unknown: string[] = []
  const lastFallback = list.findLastIndex((entry) => isObject(entry) && isFallback(entry))
  for (const [index, entry] of list.entries()) {
    const path = `usage.iterations[${index}]`
    if (!isObject(entry)) unknown.push(path)
    else if (index < lastFallback && isDeclined(entry)) continue
    else if (OWN.has(entry.type)) add(usage, readCounts(entry, lifetime))
    else readPass(entry, path, { passes, unknown, lifetime })
  }
  return { usage: dropUnstated(usage), passes, unknown }
}

interface PassSink {
  readonly passes: ModelPass[]
  readonly unknown: string[]
  readonly lifetime: WriteLifetime
}

function readPass(entry: JsonObject, path: string, { passes, unknown, lifetime }: PassSink): void {
  const role = ROLES.get(entry.type)
  const model = asString(entry.model)
  const counts = readCounts(entry, lifetime)
  const isStated = counts.input_token !== undefined && counts.output_token !== undefined
  if (role === undefined) unknown.push(`${path}.type`)
  else if (!model) unknown.push(`${path}.model`)
  else if (!isStated) unknown.push(path)
  else passes.push({ model, role, usage: counts })
}

function isFallback({ type }: JsonObject): boolean {
  return type === 'fallback_message'
}

function isDeclined(entry: JsonObject): boolean {
  return (entry.type === 'message' || isFallback(entry)) && readCount(entry.output_tokens) === 0
}

/** Adds counts. A side that one pass does not state becomes NaN, and so not stated in the sum. */
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
