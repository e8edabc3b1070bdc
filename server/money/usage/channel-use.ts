/** The state of a channel by its last calls: untried, working or failing. Pure. */
import type { ChannelUseRow } from './channel-use-store.ts'

export interface ChannelFailure {
  readonly kind: string
  readonly status?: number | null | undefined
  readonly message?: string | null | undefined
}

/** The last use of a channel, as far as it is known. */
export interface ChannelUse {
  readonly succeededAt?: Date | undefined
  /** The first failure since the last success. */
  readonly failingSince?: Date | undefined
  readonly failure?: ChannelFailure | undefined
}

export type UseState = 'untried' | 'working' | 'failing'

/** Reads a row of the store. */
export function toUse(row: ChannelUseRow | undefined): ChannelUse {
  if (!row) return {}
  const { succeeded_at, failing_since, outcome, status, reason } = row
  return {
    succeededAt: succeeded_at ?? undefined,
    failingSince: failing_since ?? undefined,
    ...(outcome === null ? {} : { failure: { kind: outcome, status, message: reason } }),
  }
}

/** Combines the records with what this process has seen but not recorded yet. */
export function joinUse(recorded: ChannelUse, seen: ChannelUse): ChannelUse {
  const succeededAt = latest(recorded.succeededAt, seen.succeededAt)
  const since = [recorded.failingSince, seen.failingSince].filter(
    (time) => time !== undefined && !(succeededAt && time < succeededAt),
  )
  const failingSince = earliest(since[0], since[1])
  const failure = failingSince && (seen.failingSince ? seen.failure : recorded.failure)
  return { succeededAt, failingSince, failure }
}

export function stateOfUse({ succeededAt, failingSince }: ChannelUse): UseState {
  if (failingSince) return 'failing'
  return succeededAt ? 'working' : 'untried'
}

/** Describes a failure: `401: Incorrect API key`, `not_sent: connect ECONNREFUSED`. */
export function nameFailure({ kind, status, message }: ChannelFailure): string {
  return [status ?? kind, message].filter(Boolean).join(': ')
}

function latest(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (!one || !other) return one ?? other
  return one > other ? one : other
}

function earliest(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (!one || !other) return one ?? other
  return one < other ? one : other
}
