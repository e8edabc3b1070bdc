/**
 * Adds up what the vendor bills. Whether its successive statements are increments or running totals
 * is not documented; the audio sent decides (docs/protocols/volcengine-interpretation.md#usage).
 */
import type { Quantities } from '../../../base/lib/units.ts'
import type { Billing } from './decode-response.ts'

/** Milliseconds that rounding and silence at the ends may add to the length of the audio. */
const SLACK_MS = 1_000

export interface UsageCounter {
  add(billing: Billing): void
  /**
   * Returns the sides that were stated, undefined without any; NaN states nothing. `sentMs` is the
   * length of audio sent so far.
   */
  read(sentMs: number): Quantities | undefined
  /** Returns true if both sides were stated, for all of the audio. */
  isWhole(sentMs: number): boolean
}

/** A side that no item has named is undefined; NaN once an item of it was no quantity. */
interface Sum {
  readonly input: number | undefined
  readonly output: number | undefined
  readonly durationMs: number
}

const NOTHING: Sum = { input: undefined, output: undefined, durationMs: 0 }

export function createUsageCounter(): UsageCounter {
  let sum = NOTHING
  let last = NOTHING
  let isRising = true
  // Increments never add up to more than the audio sent; running totals do.
  const stated = (sentMs: number): Sum =>
    isRising && sum.durationMs > sentMs + SLACK_MS ? last : sum
  return {
    add(billing) {
      const next = readBilling(billing)
      const hasFallen = next.durationMs < last.durationMs || isLess(next.input, last.input)
      isRising &&= !hasFallen
      sum = {
        input: plus(sum.input, next.input),
        output: plus(sum.output, next.output),
        durationMs: sum.durationMs + next.durationMs,
      }
      last = {
        input: next.input ?? last.input,
        output: next.output ?? last.output,
        durationMs: next.durationMs,
      }
    },
    read(sentMs) {
      const { input, output } = stated(sentMs)
      if (input === undefined && output === undefined) return undefined
      return {
        ...(input === undefined ? {} : { input_token: Math.ceil(input) }),
        ...(output === undefined ? {} : { output_token: Math.ceil(output) }),
      }
    },
    isWhole(sentMs) {
      const { input, output, durationMs } = stated(sentMs)
      return input !== undefined && output !== undefined && durationMs >= sentMs
    },
  }
}

/** Sums `input_audio_tokens`, `output_text_tokens` and `output_audio_tokens` by side. */
function readBilling({ items, durationMs }: Billing): Sum {
  let input: number | undefined
  let output: number | undefined
  for (const { unit, quantity } of items) {
    if (!unit.endsWith('_tokens')) continue
    // A negative increment would take back what an earlier one stated.
    const stated = quantity >= 0 ? quantity : Number.NaN
    if (unit.startsWith('input_')) input = plus(input, stated)
    else if (unit.startsWith('output_')) output = plus(output, stated)
  }
  return { input, output, durationMs: Math.max(0, durationMs) }
}

function plus(sum: number | undefined, more: number | undefined): number | undefined {
  return sum === undefined ? more : sum + (more ?? 0)
}

function isLess(next: number | undefined, last: number | undefined): boolean {
  return next !== undefined && last !== undefined && next < last
}
