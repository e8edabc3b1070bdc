/** Retries transactions that lost a race; all other errors pass to the caller. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql, TransactionSql } from 'postgres'
import { isSerialization } from './unavailable.ts'

const PAUSE_MS = 10

/**
 * Runs `work` in a transaction, up to `attempts` times while PostgreSQL reports a deadlock or a
 * serialization failure. `work` must be repeatable. Rejects with the last error.
 */
export async function withTransaction<T>(
  sql: Sql,
  work: (transaction: TransactionSql) => Promise<T>,
  options: { readonly attempts?: number; readonly mode?: string } = {},
): Promise<T> {
  const attempts = options.attempts ?? 5
  for (let attempt = 1; ; attempt += 1) {
    try {
      const outcome = await sql.begin(options.mode ?? '', async (transaction) => ({
        value: await work(transaction),
      }))
      return outcome.value
    } catch (error) {
      if (attempt >= attempts || !isSerialization(error)) throw error
      await sleep(PAUSE_MS * 2 ** attempt * (0.5 + Math.random() / 2))
    }
  }
}
