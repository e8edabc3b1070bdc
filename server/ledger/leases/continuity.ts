/**
 * Notices a database that is not the one this process has worked with: restored to an earlier state
 * under it, or a replica promoted that had not heard of everything. What it then says about money
 * is wrong, so no paid work is taken until an operator has looked and started the process again.
 */
import type { Log } from '../../lib/log.ts'
import type { Renewal } from './owner-store.ts'

export interface Continuity {
  /** Why no paid work may be taken, or undefined. Once said it stays. */
  broken(): string | undefined
  /** Compares a renewal of the lease with those before it. */
  see(renewal: Renewal): void
  /** A hold that the database has acknowledged is not there any more. */
  lost(holdId: string): void
}

const REASON = 'the database went back to an earlier state: check it, then restart the gateway'

/** `onBroken` is called once. */
export function createContinuity(options: {
  readonly log: Pick<Log, 'error'>
  readonly onBroken?: () => void
}): Continuity {
  let seen: Renewal | undefined
  let reason: string | undefined

  function fail(fields: { readonly reason?: string; readonly hold_id?: string }): void {
    if (reason !== undefined) return
    reason = REASON
    options.log.error(
      fields,
      'the database went back to an earlier state: it lacks what it had acknowledged to this ' +
        'process. No paid work is taken until it was checked and the gateway restarted',
    )
    options.onBroken?.()
  }

  return {
    broken: () => reason,
    see(renewal) {
      const last = seen
      seen = renewal
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
