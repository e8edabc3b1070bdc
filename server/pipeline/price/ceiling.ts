/**
 * The ceiling of a call: the most that a vendor can plausibly state for a request. Stated usage
 * below it is charged as stated, however far above the hold; what lies beyond is cut down to it
 * and reviewed. A ceiling is made of the size of the request and of the model's limits, so that a
 * caller cannot lower it.
 */
import { INPUT_UNITS, OUTPUT_UNITS, type Quantities, UNITS, type Unit } from '../../lib/units.ts'

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
  const { inputTokens, outputTokens, units, others } = ceiling
  const isWithin =
    sum(stated, INPUT_UNITS) <= inputTokens &&
    sum(stated, OUTPUT_UNITS) <= outputTokens &&
    UNITS.every((unit) => TOKEN_UNITS.has(unit) || (stated[unit] ?? 0) <= most(unit))
  if (isWithin) return { quantities: stated, isClamped: false }
  const clamped = {
    ...fill(stated, INPUT_UNITS, inputTokens),
    ...fill(stated, OUTPUT_UNITS, outputTokens),
  }
  for (const unit of UNITS) {
    const quantity = stated[unit]
    if (quantity === undefined || TOKEN_UNITS.has(unit)) continue
    clamped[unit] = Math.min(quantity, most(unit))
  }
  return { quantities: clamped, isClamped: true }

  function most(unit: Unit): number {
    // What a vendor says that a call cost is money, and bounded as such.
    return unit === 'vendor_cost' ? Number.MAX_SAFE_INTEGER : (units?.[unit] ?? others)
  }
}

/** Without what was not stated: a quantity is a whole number from 0 on, or none. */
export function onlyStated(usage: Quantities): Quantities {
  if (Object.values(usage).every(isStated)) return usage
  return Object.fromEntries(Object.entries(usage).filter(([, quantity]) => isStated(quantity)))
}

function isStated(quantity: unknown): boolean {
  return typeof quantity === 'number' && Number.isSafeInteger(quantity) && quantity >= 0
}

function sum(quantities: Quantities, units: readonly Unit[]): number {
  let total = 0
  for (const unit of units) total += quantities[unit] ?? 0
  return total
}

/** Keeps the proportions of the units, so that each price weighs as it would have. */
function fill(
  stated: Quantities,
  units: readonly Unit[],
  most: number,
): { -readonly [U in Unit]?: number } {
  const total = sum(stated, units)
  const kept: { -readonly [U in Unit]?: number } = {}
  for (const unit of units) {
    const quantity = stated[unit]
    if (quantity === undefined) continue
    kept[unit] = total <= most ? quantity : Math.floor((quantity / total) * most)
  }
  return kept
}
