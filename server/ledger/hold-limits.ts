/** Limits of calls, which the ledger decides together with their holds. */

/** An account, a key, or a model as one account uses it. */
export interface LimitedSubject {
  readonly name: string
  /** Requests and tokens within any minute, and calls at the same time; absent: no limit. */
  readonly requests?: number
  readonly tokens?: number
  readonly calls?: number
}

export interface HoldLimits {
  readonly subjects: readonly LimitedSubject[]
  /** The most tokens that the call may use; corrected when it is settled. */
  readonly tokens: number
}

/** The seconds to wait, or `too_many_tokens` for a call that no waiting makes fit. */
export type OverLimit = `limited:${number}` | 'too_many_tokens'

/** Returns the names of the subjects that limit tokens. */
export function tokenSubjects({ subjects }: HoldLimits): readonly string[] {
  return subjects.filter(({ tokens }) => tokens !== undefined).map(({ name }) => name)
}
