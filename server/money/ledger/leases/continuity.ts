/**
 * Detects a database that is not in the state this process has seen: restored to an earlier state,
 * or a replica promoted without the latest writes. Its balances are then wrong, so no paid work is
 * accepted until an operator has checked it and restarted the process.
 */
import type { Log } from '../../../base/lib/log.ts'
import type { Renewal } from './owner-store.ts'

export interface Continuity {
  /** Returns the reason to refuse paid work, or undefined. Once set, it stays. */
  broken(): string | undefined
  /** Compares a renewal of the lease with the previous one. */
  compare(renewal: Renewal): void
  /** Reports that the database no longer has a hold that it acknowledged. */
  lost(holdId: string): void
}

const REASON = 'the database returned to an earlier state: check it, then restart the gateway'

/** `onBroken` is called once. */
export function createContinuity(options: {
  readonly log: Pick<Log, 'error'>
  readonly onBroken?: () => void
}): Continuity {
  let previous: Renewal | undefined
  let reason: string | undefined

  function fail(fields: { readonly reason?: string; readonly hold_id?: string }): void {
    if (reason !== undefined) return
    reason = REASON
    options.log.error(
      fields,
      'the database returned to an earlier state: it lacks writes that it acknowledged to this ' +
        'process. No paid work is accepted until it is checked and the gateway restarted',
    )
    options.onBroken?.()
  }

  return {
    broken: () => reason,
    compare(renewal) {
      const last = previous
      previous = renewal
      if (!last) return
      if (renewal.renewed <= last.renewed || renewal.newest_entry < last.newest_entry) {
        const renewals = `renewal ${renewal.renewed} after ${last.renewed}`
        const entries = `newest entry ${renewal.newest_entry} after ${last.newest_entry}`
        fail({ reason: `${renewals}, ${entries}` })
      }
    },
    lost: (holdId) => fail({ hold_id: holdId }),
  }
}
