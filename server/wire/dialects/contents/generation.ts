/** The abilities of a model by its generation (docs/protocols/google.md#generations). */

export interface Generation {
  /** For example 2.5 or 4. */
  readonly number: number
  /** True if the model thinks, and shows a summary of it on request. */
  readonly thinks: boolean
  /** True for the larger models, which cannot be kept from thinking. */
  readonly isPro: boolean
}

/** The first that signs calls, and takes media in results and a form of the answer beside tools. */
export const SIGNING = 3
/** The first that refuses what earlier ones took: penalties, budgets, a begun answer. */
export const STRICT = 4

/** True if a search is billed by its queries, not once for the prompt. */
export function billsQueries({ number }: Generation): boolean {
  return number >= SIGNING
}
