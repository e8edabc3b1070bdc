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
  /** Receives what is left of the rates, before the decision about the call resolves. */
  readonly onLeft?: OnLeft | undefined
}

/** The rest of the nearest limit per minute. */
export interface RateLeft {
  readonly limit: number
  readonly remaining: number
  /** Milliseconds until the whole limit is free again. */
  readonly resetMs: number
}

/** Absent where nothing limits it. */
export interface RatesLeft {
  readonly requests?: RateLeft
  readonly tokens?: RateLeft
}

export type OnLeft = (left: RatesLeft) => void

/** The seconds to wait, or `too_many_tokens` for a call that will never fit. */
export type OverLimit = `limited:${number}` | 'too_many_tokens'

/** Returns the names of the subjects that limit tokens. */
export function tokenSubjects({ subjects }: HoldLimits): readonly string[] {
  return subjects.filter(({ tokens }) => tokens !== undefined).map(({ name }) => name)
}

/** Writes limits for the SQL functions: see rate_decide and rate_left. */
export function writeLimits(limits: readonly (HoldLimits | undefined)[]): string {
  const rules = limits.map((limit) => {
    if (!limit) return null
    const { subjects, tokens, onLeft } = limit
    return { subjects, tokens, tell: onLeft && limitsRates(limit) ? true : undefined }
  })
  return JSON.stringify(rules)
}

function limitsRates({ subjects }: HoldLimits): boolean {
  return subjects.some(({ requests, tokens }) => (requests ?? tokens) !== undefined)
}

const LEFT = 'left '

type Stated = readonly [limit: number, remaining: number, resetMs: number] | null

/** Tells each request what is left of its rates, by the pairs of rate_left in `words`. */
export function tellLeft(
  words: readonly string[],
  requests: readonly { readonly id: string; readonly limits?: HoldLimits | undefined }[],
): void {
  const known = new Map<string, string>()
  for (let index = 0; index + 1 < words.length; index += 2) {
    const [name = '', value = ''] = words.slice(index, index + 2)
    if (name.startsWith(LEFT)) known.set(name.slice(LEFT.length), value)
  }
  if (known.size === 0) return
  for (const { id, limits } of requests) {
    const value = known.get(id)
    if (value !== undefined) limits?.onLeft?.(readLeft(value))
  }
}

function readLeft(value: string): RatesLeft {
  const [requests, tokens] = JSON.parse(value) as [Stated, Stated]
  return { ...named('requests', requests), ...named('tokens', tokens) }
}

function named(kind: keyof RatesLeft, stated: Stated): RatesLeft {
  if (!stated) return {}
  const [limit, remaining, resetMs] = stated
  return { [kind]: { limit, remaining, resetMs } }
}
