/** Requests to the ledger: to place a hold, and to settle it. */

import type { CallLabels } from '../../base/lib/call-labels.ts'
import type { EndedStatus } from '../../base/lib/kinds-and-states.ts'
import type { Nanos } from '../../base/lib/money.ts'
import type { HoldLimits } from './hold-limits.ts'
import type { StoredAnswer } from './store.ts'

export interface HoldRequest {
  readonly requestId: string
  readonly accountId: string
  readonly keyId: string
  readonly endpoint: string
  readonly model: string
  readonly priceVersion: bigint | null
  readonly amountNanos: Nanos
  /** The possible cost beyond the hold, where the input is not all in the request. */
  readonly excessNanos?: Nanos | undefined
  readonly estimate: Readonly<Record<string, unknown>>
  readonly labels?: CallLabels | undefined
  readonly spendLimitNanos: Nanos | null
  /** Absent without limits of requests, tokens and concurrent calls. */
  readonly limits?: HoldLimits | undefined
  readonly idempotency: {
    readonly key: string
    readonly route: string
    readonly fingerprint: Buffer
  } | null
}

export interface Settlement {
  /** Nano-units; null releases the whole hold. */
  readonly chargeNanos: Nanos | null
  readonly status: Exclude<EndedStatus, 'lost'>
  readonly basis: string
  readonly review?: boolean
  readonly lines: unknown
  readonly attempts: unknown
  /** The upstream cost; null or absent if unknown. */
  readonly cost?: { readonly nanos: Nanos; readonly version: bigint } | null
  readonly error?: string
  readonly answer?: StoredAnswer
}
