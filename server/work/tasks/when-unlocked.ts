/**
 * Waits while another transaction has locked an account, since the ledger itself waits for a lock
 * only briefly.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { isLocked } from '../../base/database/unavailable.ts'
import { findUnlocked } from '../../money/ledger/posting/move-store.ts'

const PAUSE_MS = 50
/** The pauses that one wait of the ledger for a lock takes. */
const PAUSES_PER_TRY = 6

/**
 * Runs `work`, again and again while another transaction has the account, with at most `pausesMax`
 * pauses of 50 ms. Pauses are counted rather than timed, since a process that was blocked has not
 * waited. Rejects with the last error.
 */
export async function whenUnlocked<T>(
  sql: Sql,
  accountId: string,
  pausesMax: number,
  work: () => Promise<T>,
): Promise<T> {
  let pauses = 0
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isLocked(error)) throw error
      pauses += PAUSES_PER_TRY
      // The lock is requested without waiting, so that a locked account does not use up the
      // connections.
      while (!(await findUnlocked(sql, [accountId])).has(accountId)) {
        if (pauses >= pausesMax) throw error
        pauses += 1
        await sleep(PAUSE_MS)
      }
      if (pauses >= pausesMax) throw error
    }
  }
}
