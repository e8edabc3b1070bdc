/** Reads counts as vendors state them: the only rule of which values are valid. */
import { isObject, type JsonObject } from '../../../base/lib/json.ts'

/**
 * A whole number from 0 to 2^53 - 1. Undefined for anything else: null, text, a fraction, a
 * negative or larger number is not valid, and the count is treated as not stated.
 */
export function readCount(value: unknown): number | undefined {
  // Adding zero turns -0 into 0.
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) + 0 : undefined
}

/** Reads an amount that may have a fraction: a number, or a text, as vendors of media write it. */
export function readDecimal(value: unknown): number | undefined {
  if (typeof value === 'string') return DECIMAL.test(value) ? Number(value) : undefined
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
const DECIMAL = /^\d{1,15}(?:\.\d{1,15})?$/

/** Returns the first of several spellings that states a count above zero; 0 if none does. */
export function readFirstCount(...values: readonly unknown[]): number {
  for (const value of values) {
    const count = readCount(value)
    if (count !== undefined && count > 0) return count
  }
  return 0
}

/** Returns the sum; undefined if it is not a safe integer. */
export function addCounts(...counts: readonly number[]): number | undefined {
  return readCount(counts.reduce((sum, count) => sum + count, 0))
}

/** Deeper members of a usage object are replaced, not merged. */
const MERGE_DEPTH = 3
/** Many times what any vendor states: the merged usage is read again after each statement. */
const FIELDS_MAX = 256
const WHOLE = { field: '', depth: MERGE_DEPTH }

/** Returns the numbers of a usage object that can only grow while an answer is generated. */
export type ReadTotals = (usage: JsonObject) => readonly number[]

/**
 * Merges two usage objects of one answer: the last statement of each field wins, nothing is added
 * up. A field that is absent or null in the later object keeps its earlier value. If the later one
 * is smaller overall, the larger of each number is kept: work that was done is not undone.
 */
export function mergeUsage(earlier: unknown, later: unknown, readTotals: ReadTotals): unknown {
  const merged = merge(earlier, later, takeLater)
  if (!isObject(earlier) || !isObject(merged) || merged === earlier) return merged
  const totals = readTotals(merged)
  const isLess = readTotals(earlier).some((count, at) => count > (totals[at] ?? 0))
  return isLess ? merge(earlier, later, takeLarger) : merged
}

/** Adds the counts and costs of a further usage object to those of an earlier one. */
export function addUsage(earlier: unknown, further: unknown): unknown {
  return merge(earlier, further, (left, right, field) => {
    const [count, more] = [readCount(left), readCount(right)]
    if (count !== undefined && more !== undefined) return addCounts(count, more)
    const [cost, further] = [asNumber(left), asNumber(right)]
    const isCost = COST.test(field) && cost !== undefined && further !== undefined
    return isCost ? addCosts(cost, further) : (right ?? left)
  })
}

/** Costs are decimals of few digits, which their sum as a double may miss. */
function addCosts(cost: number, further: number): number {
  return Math.round((cost + further) * COST_STEPS) / COST_STEPS
}
const COST_STEPS = 1e12

type Choose = (earlier: unknown, later: unknown, field: string) => unknown

const takeLater: Choose = (_, later) => later

/**
 * Costs are fractions; other numbers are counts. Lists and values that are not numbers stay
 * unchanged.
 */
const takeLarger: Choose = (earlier, later, field) => {
  if (typeof earlier === 'object' && earlier !== null) return earlier
  const [before, after] = COST.test(field)
    ? [asNumber(earlier), asNumber(later)]
    : [readCount(earlier), readCount(later)]
  return before === undefined || (after !== undefined && after > before) ? later : earlier
}
const COST = /cost/

function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function merge(
  earlier: unknown,
  later: unknown,
  choose: Choose,
  { field, depth } = WHOLE,
): unknown {
  if (later === undefined || later === null) return earlier
  if (depth === 0 || !isObject(later)) return choose(earlier, later, field)
  const merged = new Map(isObject(earlier) ? Object.entries(earlier) : [])
  for (const [name, value] of Object.entries(later)) {
    const known = merged.get(name)
    if (known === undefined && merged.size >= FIELDS_MAX) continue
    merged.set(name, merge(known, value, choose, { field: name, depth: depth - 1 }))
  }
  return Object.fromEntries(merged)
}
