/** The pipeline's counters; server/api/metrics/call-metrics.ts names them. */
import type { EndedStatus } from '../../base/lib/kinds-and-states.ts'
import type { Nanos } from '../../base/lib/money.ts'
import type { Quantities } from '../../base/lib/units.ts'

/** The labels of figures of calls. Never an account or a key: their number has no bound. */
export interface CallPlace {
  /** The endpoint's name in usage records, for example `chat.completions`. */
  readonly endpoint: string
  /** The id of a model of the catalog; empty if none was resolved. */
  readonly model: string
  /** The last channel that was tried; empty if none was. */
  readonly channel: string
}

export interface SettledCall extends CallPlace {
  readonly status: Exclude<EndedStatus, 'lost'>
  readonly basis: string
  readonly review: boolean
  readonly quantities: Quantities
  readonly chargedNanos: Nanos
  readonly upstreamCostNanos: Nanos
  /** Of both amounts. */
  readonly currency: string
}

export interface StreamTimes extends CallPlace {
  /** From the request to the first output that was sent to the caller. */
  readonly firstTokenSeconds: number
  /** Mean of the tokens after the first; absent without a stated number of them. */
  readonly perTokenSeconds?: number | undefined
}

export interface PipelineMetrics {
  call(facts: {
    readonly route: string
    readonly outcome: string
    readonly status: number
    readonly seconds: number
    /** The row of the error table that the caller got; absent for an answer. */
    readonly refusal?: string | undefined
  }): void
  settled(call: SettledCall): void
  streamed(times: StreamTimes): void
  /** Counts an answer to a request that lost a tool, of a bounded kind. */
  tookOut(facts: Omit<CallPlace, 'channel'> & { readonly tool: string }): void
  /** Counts costs stated by vendors that differ much from the cost computed for the route. */
  upstreamCostDiffers(): void
  /** Counts conversions of recordings. */
  converted(outcome: 'converted' | 'refused' | 'retried' | 'failed'): void
  /** `seconds` last until the whole answer, or the first event of a stream, was there. */
  attempt(
    facts: CallPlace & { readonly outcome: string; readonly seconds?: number | undefined },
  ): void
}
