/**
 * Reports how an attempt ended: a metric for each, and a log line when a delivery ends. The line
 * names only the receiver's host, since the URL's path and query may contain secrets of the
 * customer.
 */
import type { DeliveryOutcome, DeliveryStatus } from '../../base/lib/kinds-and-states.ts'
import type { Log } from '../../base/lib/log.ts'

/** `dropped`: the last attempt has failed, and the delivery is given up. */
export type AttemptOutcome = DeliveryOutcome | 'dropped'

export type OnAttempt = (outcome: AttemptOutcome) => void

interface Delivery {
  readonly id: string
  readonly account_id: string
  readonly task_id: string | null
  readonly host: string
}

interface Ended {
  readonly outcome: DeliveryOutcome
  /** Of the delivery after this attempt. */
  readonly state: DeliveryStatus
  readonly status: number | null
  readonly error: string | null
}

interface Reporting {
  readonly log: Log
  readonly onAttempt: OnAttempt
}

export function reportDeliveryAttempt(delivery: Delivery, ended: Ended, to: Reporting): void {
  const { id, account_id, task_id, host } = delivery
  const { state, status, error } = ended
  to.onAttempt(state === 'dropped' ? 'dropped' : ended.outcome)
  if (state === 'pending') return
  const facts = { delivery_id: id, task_id, account_id, host, status }
  if (state === 'delivered') to.log.info(facts, 'a webhook was delivered')
  else to.log.warn({ ...facts, reason: error }, 'a webhook was dropped: its last attempt failed')
}
