/**
 * The way of a settlement into the database: batched, and repeated until it is in. A caller's
 * money never depends on one attempt: while the database is away settlements wait in memory, and
 * if the process dies with them, the sweeper closes their holds from the last checkpoint.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { type Batcher, createBatcher } from '../lib/batcher.ts'
import { closeHolds } from './move-store.ts'
import type { SettleRow, SettleVerdict } from './store.ts'

const BATCH_LIMIT = 500
const RETRY_MS_MIN = 100
const RETRY_MS_MAX = 3_000

export interface SettlementLog {
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * `isUnavailable` tells an absent database from a refused statement: the first is waited for,
 * the second is narrowed down to the row at fault, which is then closed without its details.
 */
export function createSettlements(options: {
  readonly sql: Sql
  readonly isUnavailable: (error: unknown) => boolean
  readonly log: SettlementLog
  readonly settleQueueMax: number
}): Batcher<SettleRow, SettleVerdict> {
  const { sql, log } = options

  async function closeOneByOne(rows: readonly SettleRow[]): Promise<SettleVerdict[]> {
    const verdicts: SettleVerdict[] = []
    for (const row of rows) {
      const verdict = await close([row]).catch((error: unknown) => {
        if (options.isUnavailable(error)) throw error
        log.error({ hold_id: row.hold_id, error }, 'settlement refused: closing without details')
        const bare = { lines: [], attempts: [], error: null, answer: null, review: true }
        return close([{ ...row, ...bare, cost: null, cost_version: null }])
      })
      verdicts.push(...verdict)
    }
    return verdicts
  }

  async function close(rows: readonly SettleRow[]): Promise<SettleVerdict[]> {
    const verdicts = await closeHolds(sql, rows)
    return rows.map((row) => verdicts.get(row.hold_id) ?? 'unknown')
  }

  async function closeUntilDone(rows: readonly SettleRow[]): Promise<SettleVerdict[]> {
    for (let waitMs = RETRY_MS_MIN; ; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
      try {
        return await close(rows)
      } catch (error) {
        if (!options.isUnavailable(error)) {
          if (rows.length === 0) return []
          const verdicts = await closeOneByOne(rows).catch((cause: unknown) => cause)
          if (Array.isArray(verdicts)) return verdicts
        }
        log.warn({ waiting: rows.length, error }, 'settlements wait for the database')
        await sleep(waitMs)
      }
    }
  }

  const queueLimit = options.settleQueueMax
  return createBatcher({ run: closeUntilDone, batchLimit: BATCH_LIMIT, queueLimit })
}
