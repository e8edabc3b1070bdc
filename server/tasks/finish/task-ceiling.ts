/** The ceiling of a task: what a vendor can plausibly state for an order, in every unit. */
import { INPUT_UNITS, OUTPUT_UNITS, type Quantities, type Unit } from '../../lib/units.ts'
import type { Ceiling } from '../../pipeline/price/ceiling.ts'

/** Pictures a second, sizes and rounding that an order does not name. */
const FACTOR = 4
/** What a header of a caller's file can hide: the longest recording that is taken, twice. */
const SECONDS_LEAST = 14_400
/** A conversation about a result is as long as a model can take. */
const INPUT_TOKENS_LEAST = 2_000_000
/** Of a text: more than any model writes. */
const OUTPUT_TOKENS_LEAST = 1_000_000
const OTHERS_LEAST = 1_000

/** From what the hold was taken for: orders are checked, so that their size is no tale. */
export function boundTask(quantities: Quantities): Ceiling {
  const total = (units: readonly Unit[]) =>
    units.reduce((sum, unit) => sum + (quantities[unit] ?? 0), 0)
  const output = total(OUTPUT_UNITS)
  // The output of a text is held for as long as its caller says; that of a video, as it is ordered.
  const isText = output === 0 || total(INPUT_UNITS) > 0
  const most = (quantity: number, least: number) => Math.max(quantity * FACTOR, least)
  return {
    inputTokens: most(total(INPUT_UNITS), INPUT_TOKENS_LEAST),
    outputTokens: isText ? most(output, OUTPUT_TOKENS_LEAST) : output * FACTOR,
    units: {
      second: most(quantities.second ?? 0, SECONDS_LEAST),
      character: most(quantities.character ?? 0, INPUT_TOKENS_LEAST),
    },
    others: OTHERS_LEAST,
  }
}
