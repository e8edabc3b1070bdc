/** The ceiling of speech: what its vendor can state for a text of so many bytes. */
import type { Ceiling } from '../../pipeline/price/ceiling.ts'

/** Of the vendor's own prompt, and of texts that are read out at length. */
const HIDDEN_TOKENS = 16_384
/** The slowest voice, at a quarter of its speed: a second for each byte. */
const SECONDS_PER_BYTE = 1
const SECONDS_LEAST = 600
const TOKENS_PER_SECOND = 100

export function boundSpeech(bodyBytes: number): Ceiling {
  const second = bodyBytes * SECONDS_PER_BYTE + SECONDS_LEAST
  return {
    inputTokens: bodyBytes + HIDDEN_TOKENS,
    outputTokens: second * TOKENS_PER_SECOND,
    units: { second, character: bodyBytes },
    others: 1,
  }
}
