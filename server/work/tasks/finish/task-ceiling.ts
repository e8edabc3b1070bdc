/** The ceiling of a task: the most usage that a vendor can plausibly state, per unit. */
import { INPUT_UNITS, OUTPUT_UNITS, type Quantities, type Unit } from '../../../base/lib/units.ts'
import type { Ceiling } from '../../pipeline/price/ceiling.ts'

/** Margin for frame rates, sizes and rounding that the request does not name. */
const FACTOR = 4
/** Lower bound, twice the longest accepted recording: a file's header may understate its length. */
const SECONDS_MIN = 14_400
/** Lower bound, the longest input of any model, for follow-up calls about a result. */
const INPUT_TOKENS_MIN = 2_000_000
/** Lower bound for texts: more than any model writes. */
const OUTPUT_TOKENS_MIN = 1_000_000
const OTHERS_MIN = 1_000

/** Returns the ceiling from the held quantities, which come from a validated request. */
export function boundTask(quantities: Quantities): Ceiling {
  const total = (units: readonly Unit[]) =>
    units.reduce((sum, unit) => sum + (quantities[unit] ?? 0), 0)
  const output = total(OUTPUT_UNITS)
  // A text's held output is the caller's own limit, so it cannot bound the usage; a video's can.
  const isText = output === 0 || total(INPUT_UNITS) > 0
  const bound = (quantity: number, minimum: number) => Math.max(quantity * FACTOR, minimum)
  return {
    inputTokens: bound(total(INPUT_UNITS), INPUT_TOKENS_MIN),
    outputTokens: isText ? bound(output, OUTPUT_TOKENS_MIN) : output * FACTOR,
    units: {
      second: bound(quantities.second ?? 0, SECONDS_MIN),
      character: bound(quantities.character ?? 0, INPUT_TOKENS_MIN),
    },
    others: OTHERS_MIN,
  }
}
