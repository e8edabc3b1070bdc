/**
 * Adds up what the vendor bills. Whether its successive statements are increments or running totals
 * is not documented; the audio sent decides (docs/protocols/volcengine-interpretation.md#usage).
 */
import type { Quantities } from '../../lib/units.ts'
import type { Billing } from './decode-response.ts'

/** Milliseconds that rounding and silence at the ends may add to the length of the audio. */
const SLACK_MS = 1_000

export interface UsageCounter {
  add(billing: Billing): void
  /** Returns undefined before the first statement. `sentMs` is the length of audio sent so far. */
  read(sentMs: number): Quantities | undefined
}

interface Sum {
  input: number
  output: number
  durationMs: number
}

export function createUsageCounter(): UsageCounter {
  const sum: Sum = { input: 0, output: 0, durationMs: 0 }
  let last: Sum | undefined
  let isRising = true
  return {
    add(billing) {
      const next = readBilling(billing)
      if (last && (next.durationMs < last.durationMs || next.input < last.input)) isRising = false
      sum.input += next.input
      sum.output += next.output
      sum.durationMs += next.durationMs
      last = next
    },
    read(sentMs) {
      if (!last) return undefined
      // Increments never add up to more than the audio sent; running totals do.
      const isTotal = isRising && sum.durationMs > sentMs + SLACK_MS
      const { input, output } = isTotal ? last : sum
      return { input_token: wholeTokens(input), output_token: wholeTokens(output) }
    },
  }
}

/** Sums `input_audio_tokens`, `output_text_tokens` and `output_audio_tokens` by side. */
function readBilling({ items, durationMs }: Billing): Sum {
  const sum: Sum = { input: 0, output: 0, durationMs }
  for (const { unit, quantity } of items) {
    if (!unit.endsWith('_tokens')) continue
    if (unit.startsWith('input_')) sum.input += quantity
    else if (unit.startsWith('output_')) sum.output += quantity
  }
  return sum
}

/** Rounds up the vendor's floats. A negative figure or NaN stays as it is and states nothing. */
function wholeTokens(quantity: number): number {
  return Math.ceil(quantity)
}
