/** Reads counts as vendors state them: the only rule of which values are valid. */
import { isObject } from '../../lib/json.ts'

/**
 * A whole number from 0 to 2^53 - 1. Undefined for anything else: null, text, a fraction, a
 * negative or larger number is not a statement, and what it stood for counts as not stated.
 */
export function readCount(value: unknown): number | undefined {
  // Adding zero turns -0 into 0.
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) + 0 : undefined
}

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

/**
 * Merges two usage objects of one answer: the last statement of each field wins, nothing is added
 * up. A field that is absent or null in the later object keeps its earlier value.
 */
export function mergeUsage(earlier: unknown, later: unknown, depth = MERGE_DEPTH): unknown {
  if (later === undefined || later === null) return earlier
  if (depth === 0 || !isObject(earlier) || !isObject(later)) return later
  const merged = new Map(Object.entries(earlier))
  for (const [field, value] of Object.entries(later)) {
    merged.set(field, mergeUsage(merged.get(field), value, depth - 1))
  }
  return Object.fromEntries(merged)
}
