/** Fits the estimated part of a charge into what is left of the hold beside the stated part. */
import type { Nanos } from '../../lib/money.ts'
import type { Quantities, Unit } from '../../lib/units.ts'

/** How finely an estimate is cut down: 2^20 steps. */
const STEPS = 1 << 20

/**
 * Stated and estimated quantities together, the estimated ones cut down in proportion until their
 * price is at most the hold, or the price of the stated ones alone where that is more.
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
  // 2^50 × 2^20 is past the exact numbers: divided first, at the cost of the last digits.
  return step === STEPS ? Math.ceil(whole) : Math.floor((whole / STEPS) * step)
}
