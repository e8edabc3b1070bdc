/** The abilities of a model by its generation (docs/protocols/google.md#generations). */

export interface Generation {
  /** For example 2.5 or 4. */
  readonly number: number
  /** True if the model thinks, and shows a summary of it on request. */
  readonly thinks: boolean
  /** True for the larger models, which cannot be kept from thinking. */
  readonly isPro: boolean
}

/**
 * The first generation that signs calls, and accepts media in results and an answer format beside
 * tools.
 */
export const SIGNING = 3
/**
 * The first generation that refuses what earlier ones accepted: penalties, budgets, a prefilled
 * answer.
 */
export const STRICT = 4

/** True if a search is billed by its queries, not once for the prompt. */
export function billsQueries({ number }: Generation): boolean {
  return number >= SIGNING
}
