/** Merges the usage that the events of one message state. */
import { isObject, type JsonObject } from '../../../base/lib/json.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import { mergeUsage } from '../usage/read-count.ts'
import { totalCost } from '../usage/stated-cost.ts'
import { totalTokens } from '../usage/usage-reading.ts'
import { readVendorTools, totalCalls } from '../usage/vendor-tools.ts'
import { readCounts } from './read-counts.ts'
import { readIterations } from './read-iterations.ts'

/** Returns the usage of `message_start` without its output, which is a placeholder. */
export function withoutPlaceholders(usage: unknown): JsonObject | undefined {
  if (!isObject(usage)) return undefined
  const { output_tokens: _, output_tokens_details: __, iterations: ___, ...statedUsage } = usage
  return statedUsage
}

/** Merges two statements; see `mergeUsage`. */
export function mergeMessagesUsage(earlier: unknown, later: unknown): unknown {
  return mergeUsage(earlier, isObject(later) ? later : undefined, readTotals)
}

/**
 * Returns the merged usage of `message_start` and the events after it, the last of which ends the
 * message. Relays that translate from other dialects begin with an estimate of the input, so if the
 * end states both sides, its counts are used even if they are smaller.
 */
export function closeUsage(opening: unknown, stated: unknown): unknown {
  const [input = 0, output = 0] = isObject(stated) ? sides(readCounts(stated, '5m')) : []
  const isWhole = input > 0 && output > 0
  return isWhole ? mergeUsage(opening, stated, () => []) : mergeMessagesUsage(opening, stated)
}

/** The lifetime of cache writes does not matter here: they are added up. */
function readTotals(usage: JsonObject): readonly number[] {
  const iterations = readIterations(usage.iterations, '5m')
  const passes = iterations?.passes ?? []
  const ofPasses = passes.flatMap((pass) => sides(pass.usage))
  return [
    ...sides(iterations?.usage ?? readCounts(usage, '5m')),
    totalCost(usage),
    totalCalls(readVendorTools({}, usage).calls),
    ofPasses.reduce((sum, count) => sum + count, 0),
  ]
}

function sides(usage: Quantities): readonly number[] {
  const { input, output } = totalTokens(usage)
  return [input ?? 0, output ?? 0]
}
