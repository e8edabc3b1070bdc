/**
 * Releases leaked holds: holds of this process that belong to none of its calls, so that nothing
 * else would settle them.
 */
import type { Sql } from 'postgres'
import { findOwnHolds } from '../leases/owner-store.ts'
import { toReleaseRow } from '../posting/rows.ts'
import type { SettlementLog } from '../posting/settlements.ts'
import type { SettleRow, SettleVerdict } from '../store.ts'

const LEAK_CHECK_MS = 30_000
/** The statement that took an older hold has ended. */
const AGE_SECONDS_MIN = 60

export interface LeakCheck {
  stop(): void
}

export function startLeakCheck(options: {
  readonly sql: Sql
  readonly ownerId: string
  /** Returns true for holds that a call of this process has, or is about to take or close. */
  readonly isTracked: (holdId: string) => boolean
  readonly release: (row: SettleRow) => Promise<SettleVerdict>
  /** See Ledger. */
  readonly isContinued: () => Promise<boolean>
  /** Time between two checks. */
  readonly leakCheckMs?: number
  readonly log: SettlementLog
}): LeakCheck {
  const {
    sql,
    ownerId,
    isTracked,
    release,
    isContinued,
    leakCheckMs = LEAK_CHECK_MS,
    log,
  } = options
  let isTurn = false

  async function releaseLeaked(): Promise<void> {
    const open = await findOwnHolds(sql, ownerId, AGE_SECONDS_MIN)
    const leaked = open.filter(({ id }) => !isTracked(id))
    if (leaked.length === 0) return
    // A database in an earlier state lists holds that were charged since.
    if (!(await isContinued())) return
    for (const { id, account_id, request_id, key } of leaked) {
      if (isTracked(id)) continue
      const answer = key === null ? null : ({ key, state: 'forget' } as const)
      const verdict = await release({ ...toReleaseRow(id, account_id), answer })
      if (verdict !== 'closed') continue
      log.warn({ request_id, account_id }, 'released a hold that no running call owns')
    }
  }

  const timer = setInterval(() => {
    if (isTurn) return
    isTurn = true
    releaseLeaked()
      .catch((error: unknown) => log.warn({ error }, 'the check for leaked holds failed'))
      .finally(() => {
        isTurn = false
      })
  }, leakCheckMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
