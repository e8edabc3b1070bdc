/**
 * The ceiling of a call: the most that a vendor can plausibly state for a request. Stated usage
 * below it is charged as stated, however far above the hold; what lies beyond is cut down to it
 * and reviewed. A ceiling is made of the size of the request and of the model's limits, so that a
 * caller cannot lower it.
 */
import {
  INPUT_UNITS,
  OUTPUT_UNITS,
  type Quantities,
  sumOf,
  type Unit,
  unitsOf,
} from '../../lib/units.ts'

export interface Ceiling {
  /** Of all units of the prompt together, in each model's part of the work. */
  readonly inputTokens: number
  /** Of all units of the answer together, in each model's part of the work. */
  readonly outputTokens: number
  /** Of single units, where the request says more than `others`. */
  readonly units?: Quantities
  /** Of every other unit. */
  readonly others: number
}

export interface Clamped {
  readonly quantities: Quantities
  readonly isClamped: boolean
}

const TOKEN_UNITS: ReadonlySet<Unit> = new Set([...INPUT_UNITS, ...OUTPUT_UNITS])

/** Cuts stated quantities down to a ceiling; what lies within it is returned as it is. */
export function clampToCeiling(stated: Quantities, ceiling: Ceiling): Clamped {
  if (isWithin(stated, ceiling)) return { quantities: stated, isClamped: false }
  const clamped = {
    ...fill(stated, INPUT_UNITS, ceiling.inputTokens),
    ...fill(stated, OUTPUT_UNITS, ceiling.outputTokens),
  }
  for (const unit of unitsOf(stated)) {
    if (!TOKEN_UNITS.has(unit)) clamped[unit] = Math.min(stated[unit] ?? 0, mostOf(unit, ceiling))
  }
  return { quantities: clamped, isClamped: true }
}

function isWithin(stated: Quantities, ceiling: Ceiling): boolean {
  if (sumOf(stated, INPUT_UNITS) > ceiling.inputTokens) return false
  if (sumOf(stated, OUTPUT_UNITS) > ceiling.outputTokens) return false
  for (const unit of unitsOf(stated)) {
    if (!TOKEN_UNITS.has(unit) && (stated[unit] ?? 0) > mostOf(unit, ceiling)) return false
  }
  return true
}

/** What a vendor says that a call cost is money, and bounded as such. */
function mostOf(unit: Unit, { units, others }: Ceiling): number {
  return unit === 'vendor_cost' ? Number.MAX_SAFE_INTEGER : (units?.[unit] ?? others)
}

/** Without what was not stated: a quantity is a whole number from 0 on, or none. */
export function onlyStated(usage: Quantities): Quantities {
  let isWhole = true
  for (const unit in usage) isWhole &&= isStated(usage[unit as Unit])
  if (isWhole) return usage
  return Object.fromEntries(Object.entries(usage).filter(([, quantity]) => isStated(quantity)))
}

function isStated(quantity: unknown): boolean {
  return typeof quantity === 'number' && Number.isSafeInteger(quantity) && quantity >= 0
}

/** Keeps the proportions of the units, so that each price weighs as it would have. */
function fill(
  stated: Quantities,
  units: readonly Unit[],
  most: number,
): { -readonly [U in Unit]?: number } {
  const total = sumOf(stated, units)
  const kept: { -readonly [U in Unit]?: number } = {}
  for (const unit of units) {
    const quantity = stated[unit]
    if (quantity === undefined) continue
    kept[unit] = total <= most ? quantity : Math.floor((quantity / total) * most)
  }
  return kept
}
