/** A call with its hold, for all verbs after the hold. */
import type { Context } from '../../../base/http/context.ts'
import type { Hold } from '../../../money/ledger/holds/hold.ts'
import type { Leave } from '../load/channel-health.ts'
import type { CallSpending } from '../load/channel-spending.ts'
import type { Metering } from '../metering.ts'
import type { ResolvedCall } from '../request/resolve.ts'
import type { Services } from '../services.ts'
import type { Quote } from './quote.ts'
import type { FallbackCall } from './quote-all.ts'

export interface MeteredCall {
  readonly context: Context
  readonly metering: Metering
  readonly call: ResolvedCall
  readonly hold: Hold
  readonly quoted: Quote
  readonly services: Services
  /** The call as other models would serve it; absent: no other model may. */
  readonly fallbacks?: readonly FallbackCall[]
  /** Counts the call towards the limits of another model. False: one of them is reached. */
  readonly admitOther?: (call: FallbackCall) => Promise<boolean>
  /** Keeps a slot of a channel until the call ends. */
  readonly keepSlot?: (leave: Leave) => void
  /** The call's part in the spending of its channel. */
  readonly spending?: CallSpending
}

/** The input of a charge: of a call, or of a task that was quoted like one. */
export interface BillableCall {
  readonly metering: Metering
  readonly call: Pick<ResolvedCall, 'model' | 'request'>
  readonly quoted: Quote
  readonly services: Pick<Services, 'upstreams'>
}
