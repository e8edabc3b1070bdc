/**
 * Releases holds that belong to this process but to none of its calls, which nothing else would
 * settle.
 */
import type { Sql } from 'postgres'
import type { Continuity } from '../leases/continuity.ts'
import { findOwnHolds } from '../leases/owner-store.ts'
import { toReleaseRow } from '../posting/rows.ts'
import type { SettlementLog } from '../posting/settlements.ts'
import type { SettleRow, SettleVerdict } from '../store.ts'

const STRAYS_MS = 30_000
/** Whatever is older was answered long ago, one way or the other. */
const AGE_SECONDS = 60

export interface Strays {
  stop(): void
}

export function startStrays(options: {
  readonly sql: Sql
  readonly ownerId: string
  /** True for holds that a call of this process has, or is about to take or close. */
  readonly isOwn: (holdId: string) => boolean
  readonly release: (row: SettleRow) => Promise<SettleVerdict>
  readonly continuity?: Continuity
  /** Between two searches. */
  readonly straysMs?: number
  readonly log: SettlementLog
}): Strays {
  const { sql, ownerId, isOwn, release, continuity, straysMs = STRAYS_MS, log } = options
  let isTurn = false

  async function releaseStrays(): Promise<void> {
    // In an earlier state of the database they were charged since: a restart decides about them.
    if (continuity?.broken() !== undefined) return
    const found = await findOwnHolds(sql, ownerId, AGE_SECONDS)
    for (const { id, account_id, request_id, key } of found) {
      if (isOwn(id)) continue
      const answer = key === null ? null : ({ key, state: 'forget' } as const)
      const verdict = await release({ ...toReleaseRow(id, account_id), answer })
      if (verdict !== 'closed') continue
      log.warn({ request_id, account_id }, 'released a hold that no call of this process has')
    }
  }

  const timer = setInterval(() => {
    if (isTurn) return
    isTurn = true
    releaseStrays()
      .catch((error: unknown) => log.warn({ error }, 'the check for holds without a call failed'))
      .finally(() => {
        isTurn = false
      })
  }, straysMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
