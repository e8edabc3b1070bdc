/**
 * The ceiling of a call: the greatest usage that a vendor can plausibly state for its request.
 * Stated usage up to the ceiling is charged as stated, however far above the hold; usage beyond it
 * is reduced to it and reviewed. The ceiling follows from the size of the request and the model's
 * limits, so that a caller cannot lower it.
 */
import {
  INPUT_UNITS,
  OUTPUT_UNITS,
  type Quantities,
  sideOf,
  sumOf,
  TOKEN_UNITS,
  type Unit,
  unitsOf,
} from '../../../base/lib/units.ts'

export interface Ceiling {
  /** Maximum of all input units together, for each model that does a part of the work. */
  readonly inputTokens: number
  /** Maximum of all output units together, for each model that does a part of the work. */
  readonly outputTokens: number
  /** Maximum of single units that the request bounds more closely than `others`. */
  readonly units?: Quantities
  /** Maximum of every other unit. */
  readonly others: number
}

export interface Clamped {
  readonly quantities: Quantities
  readonly isClamped: boolean
}

const TOKENS: ReadonlySet<Unit> = new Set(TOKEN_UNITS)
const INPUTS: ReadonlySet<Unit> = new Set(INPUT_UNITS)
const OUTPUTS: ReadonlySet<Unit> = new Set(OUTPUT_UNITS)

/** Reduces stated quantities to a ceiling; quantities within it are returned unchanged. */
export function clampToCeiling(stated: Quantities, ceiling: Ceiling): Clamped {
  if (isWithin(stated, ceiling)) return { quantities: stated, isClamped: false }
  const clamped = {
    ...scaleDown(stated, INPUT_UNITS, ceiling.inputTokens),
    ...scaleDown(stated, OUTPUT_UNITS, ceiling.outputTokens),
  }
  for (const unit of unitsOf(stated)) {
    if (!TOKENS.has(unit)) clamped[unit] = Math.min(stated[unit] ?? 0, maxOf(unit, ceiling))
  }
  return { quantities: clamped, isClamped: true }
}

function isWithin(stated: Quantities, ceiling: Ceiling): boolean {
  if (sumOf(stated, INPUT_UNITS) > ceiling.inputTokens) return false
  if (sumOf(stated, OUTPUT_UNITS) > ceiling.outputTokens) return false
  for (const unit of unitsOf(stated)) {
    if (!TOKENS.has(unit) && (stated[unit] ?? 0) > maxOf(unit, ceiling)) return false
  }
  return true
}

/** Returns the maximum of a unit, if it is the only one of its side. */
export function maxOf(unit: Unit, { inputTokens, outputTokens, units, others }: Ceiling): number {
  if (INPUTS.has(unit)) return inputTokens
  if (OUTPUTS.has(unit)) return outputTokens
  return units?.[unit] ?? others
}

/**
 * Returns the usage without sides that are stated as zero although something was delivered: some
 * vendors write zeros for unknown values. `units` are those that such an answer has.
 */
export function withoutZeros(usage: Quantities, units: readonly Unit[]): Quantities {
  const empty = units.map(sideOf).filter((side) => sumOf(usage, side) === 0)
  const isZero = (unit: Unit) => empty.some((side) => side.includes(unit))
  if (!unitsOf(usage).some(isZero)) return usage
  const kept = unitsOf(usage).filter((unit) => !isZero(unit))
  return Object.fromEntries(kept.map((unit) => [unit, usage[unit]]))
}

/** Drops values that are not quantities: a quantity is a whole number from 0 on. */
export function onlyStated(usage: Quantities): Quantities {
  let isWhole = true
  for (const unit in usage) isWhole &&= isStated(usage[unit as Unit])
  if (isWhole) return usage
  return Object.fromEntries(Object.entries(usage).filter(([, quantity]) => isStated(quantity)))
}

function isStated(quantity: unknown): boolean {
  return typeof quantity === 'number' && Number.isSafeInteger(quantity) && quantity >= 0
}

/** Scales the units down to a total of `max`, keeping their proportions. */
function scaleDown(
  stated: Quantities,
  units: readonly Unit[],
  max: number,
): { -readonly [U in Unit]?: number } {
  const total = sumOf(stated, units)
  const scaled: { -readonly [U in Unit]?: number } = {}
  for (const unit of units) {
    const quantity = stated[unit]
    if (quantity === undefined) continue
    scaled[unit] = total <= max ? quantity : Math.floor((quantity / total) * max)
  }
  return scaled
}
