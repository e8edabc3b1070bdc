/**
 * Settlements of calls that were closed meanwhile for a process taken for dead. The difference to
 * what was charged then is posted once. They come after outages, so each is a statement of its own,
 * repeated until it is in, and no account waits for another one.
 */
import type { Sql } from 'postgres'
import { createSerialQueues } from '../../lib/queues/serial-queues.ts'
import { correctLost } from '../posting/move-store.ts'
import type { SettlementLog } from '../posting/settlements.ts'
import type { SettleRow, SettleVerdict } from '../store.ts'

const AT_ONCE = 2

export interface Corrections {
  /** Resolves when it is committed: corrected, or why there was nothing to put right. */
  add(row: SettleRow): Promise<SettleVerdict>
  flushed(): Promise<void>
  size(): number
}

interface Waiting {
  readonly row: SettleRow
  readonly resolve: (verdict: SettleVerdict) => void
}

export function createCorrections(options: {
  readonly sql: Sql
  readonly isUnavailable: (error: unknown) => boolean
  readonly log: SettlementLog
}): Corrections {
  const { sql, log, isUnavailable } = options
  const lanes = createSerialQueues<Waiting>({ run, atOnce: AT_ONCE })

  async function run(_account: string, items: readonly Waiting[]) {
    for (const [index, { row, resolve }] of items.entries()) {
      try {
        resolve(await correctLost(sql, row))
      } catch (error) {
        if (isUnavailable(error)) return { left: items.slice(index), stays: true }
        log.error({ hold_id: row.hold_id, error }, 'a correction was refused: posting its amount')
        const bare = { lines: [], attempts: [], error: null, review: true }
        const rest = { ...row, ...bare, upstream_cost: null, upstream_cost_version: null }
        const posted = await correctLost(sql, rest).catch(() => undefined)
        if (!posted) return { left: items.slice(index), stays: true }
        resolve(posted)
      }
    }
    return { left: [], stays: false }
  }

  return {
    add: (row) =>
      new Promise((resolve) => {
        lanes.push(row.account_id ?? '', { row, resolve })
      }),
    flushed: lanes.flushed,
    size: lanes.size,
  }
}
