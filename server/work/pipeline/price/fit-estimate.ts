/** Limits the estimated part of a charge to the part of the hold that stated usage leaves over. */
import type { Nanos } from '../../../base/lib/money.ts'
import type { Quantities, Unit } from '../../../base/lib/units.ts'

/** Precision of the scaling: 2^20 steps. */
const STEPS = 1 << 20

/**
 * Returns stated and estimated quantities together, the estimated ones scaled down until the price
 * is at most the hold, or at most the price of the stated ones alone if that is more.
 */
export function fitEstimate(
  stated: Quantities,
  estimated: Quantities,
  holdNanos: Nanos,
  price: (quantities: Quantities) => Nanos,
): Quantities {
  const units = Object.keys(estimated) as Unit[]
  if (units.length === 0) return stated
  const alone = price(stated)
  const most = alone > holdNanos ? alone : holdNanos
  const at = (step: number): Quantities => {
    const parts = units.map((unit) => [unit, scale(estimated[unit] ?? 0, step)] as const)
    return { ...Object.fromEntries(parts), ...stated }
  }
  if (price(at(STEPS)) <= most) return at(STEPS)
  let fits = 0
  let exceeds = STEPS
  while (exceeds - fits > 1) {
    const middle = (fits + exceeds) >> 1
    if (price(at(middle)) <= most) fits = middle
    else exceeds = middle
  }
  return at(fits)
}

function scale(quantity: number, step: number): number {
  const whole = Number.isFinite(quantity) ? Math.min(Math.max(0, quantity), 2 ** 50) : 0
  // 2^50 × 2^20 exceeds the exact integers: dividing first loses only the last digits.
  return step === STEPS ? Math.ceil(whole) : Math.floor((whole / STEPS) * step)
}
