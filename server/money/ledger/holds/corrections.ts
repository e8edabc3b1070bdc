/**
 * Settles calls whose holds were closed as lost. The difference to the earlier charge is posted
 * once. Corrections follow outages, so each is a separate statement, retried until committed, and
 * accounts do not wait for each other.
 */
import type { Sql } from 'postgres'
import { createSerialQueues } from '../../../base/lib/queues/serial-queues.ts'
import { correctLost } from '../posting/move-store.ts'
import type { SettlementLog } from '../posting/settlements.ts'
import type { SettleRow, SettleVerdict } from '../store.ts'

const AT_ONCE = 2

export interface Corrections {
  /** Resolves when committed: `corrected`, or the reason why there was nothing to correct. */
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
  const queues = createSerialQueues<Waiting>({ run, atOnce: AT_ONCE })

  async function run(_account: string, items: readonly Waiting[]) {
    const refused: Waiting[] = []
    for (const [index, item] of items.entries()) {
      const { row, resolve } = item
      try {
        resolve(await correctLost(sql, row))
      } catch (error) {
        if (isUnavailable(error)) {
          return { remaining: [...refused, ...items.slice(index)], stays: true }
        }
        log.error(
          { hold_id: row.hold_id, error },
          'correction refused: posting its amount without details',
        )
        const bare = { lines: [], attempts: [], error: null, review: true }
        const reduced = { ...row, ...bare, upstream_cost: null, upstream_cost_version: null }
        const posted = await correctLost(sql, reduced).catch(() => undefined)
        if (posted) resolve(posted)
        else refused.push(item)
      }
    }
    return { remaining: refused, stays: refused.length > 0 }
  }

  return {
    add: (row) =>
      new Promise((resolve) => {
        queues.push(row.account_id ?? '', { row, resolve })
      }),
    flushed: queues.flushed,
    size: queues.size,
  }
}
