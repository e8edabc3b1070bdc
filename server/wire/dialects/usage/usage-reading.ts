/** Usage of an answer in the terms of a relay's report. */
import {
  CACHE_WRITE_UNITS,
  CACHED_UNITS,
  INPUT_UNITS,
  OUTPUT_UNITS,
  type Quantities,
  type Unit,
} from '../../../base/lib/units.ts'
import type { RelayReport } from '../relay.ts'

/** Absent members are not stated. */
export type UsageReading = Pick<
  RelayReport,
  | 'usage'
  | 'passes'
  | 'containers'
  | 'facts'
  | 'statedCost'
  | 'unknownUsage'
  | 'itemIds'
  | 'keptIds'
>

export const NOTHING_STATED: UsageReading = {}

/** Quantities that are still being collected. */
export type Tally = { -readonly [Name in keyof Quantities]: Quantities[Name] }

/** Adds to a unit; skips zero, so that unused units have no line. */
export function tally(quantities: Tally, unit: Unit, count: number): void {
  if (count > 0) quantities[unit] = (quantities[unit] ?? 0) + count
}

/** Returns the larger count of each unit: usage and items may state the same calls. */
export function largerOfEach(left: Quantities, right: Quantities): Quantities {
  if (isEmpty(right)) return left
  if (isEmpty(left)) return right
  const larger: Tally = { ...left }
  for (const [unit, count] of Object.entries(right) as [Unit, number][]) {
    larger[unit] = Math.max(larger[unit] ?? 0, count)
  }
  return larger
}

/** Returns true for an object without members. */
export function isEmpty(members: object): boolean {
  for (const _ in members) return false
  return true
}

/** Returns the tokens of an image model: output that its details do not call text is images. */
export function toImageTokens(tokens: Quantities): Quantities {
  const { output_token: output, image_output_token: images, ...rest } = tokens
  if (output === undefined) return tokens
  if (images === undefined) return { ...rest, image_output_token: output }
  return output === 0 ? { ...rest, image_output_token: images } : tokens
}

/** Totals in which callers' dialects state usage; undefined when nothing of it is stated. */
export interface TokenTotals {
  /** Cached and written tokens included. */
  readonly input: number | undefined
  /** Neither cached nor written. */
  readonly fresh: number | undefined
  readonly cached: number
  readonly written: number
  readonly output: number | undefined
}

export function totalTokens(usage: Quantities | undefined): TokenTotals {
  const cached = sum(usage, CACHED_UNITS) ?? 0
  const written = sum(usage, CACHE_WRITE_UNITS) ?? 0
  const isStated = usage?.input_token !== undefined
  const input = isStated ? sum(usage, INPUT_UNITS) : undefined
  const fresh = input === undefined ? undefined : input - cached - written
  return { input, fresh, cached, written, output: sum(usage, OUTPUT_UNITS) }
}

function sum(usage: Quantities | undefined, units: readonly Unit[]): number | undefined {
  let total: number | undefined
  for (const unit of units) {
    const count = usage?.[unit]
    if (count !== undefined) total = (total ?? 0) + count
  }
  return total
}
