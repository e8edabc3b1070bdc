/** The ceiling of speech synthesis, by the size of the request. */
import type { Ceiling } from '../../../work/pipeline/price/ceiling.ts'

/** Allowance for the vendor's own prompt and for expanded texts. */
const HIDDEN_TOKENS = 16_384
/** Allows for the slowest voice at a quarter of its speed. */
const SECONDS_PER_BYTE = 1
const SECONDS_MIN = 600
const TOKENS_PER_SECOND = 100

export function boundSpeech(bodyBytes: number): Ceiling {
  const second = bodyBytes * SECONDS_PER_BYTE + SECONDS_MIN
  return {
    inputTokens: bodyBytes + HIDDEN_TOKENS,
    outputTokens: second * TOKENS_PER_SECOND,
    units: { second, character: bodyBytes },
    others: 1,
  }
}
