/** Counts ended calls into hourly figures with the database's `count_ended_calls`. */
import type { Sql, TransactionSql } from 'postgres'

/**
 * Counts calls that ended within `stepSeconds` after the last one counted. Returns true if more
 * remain.
 */
export async function countEndedCalls(
  sql: Sql | TransactionSql,
  stepSeconds: number,
): Promise<boolean> {
  const [row] = await sql<{ more: boolean }[]>`
    select count_ended_calls(make_interval(secs => ${stepSeconds})) as more`
  return row?.more ?? false
}

/** Counts all calls that have ended. Waits while another process counts, which may lag behind. */
export async function countAllEndedCalls(sql: Sql, stepSeconds: number): Promise<void> {
  let hasMore = true
  while (hasMore) {
    hasMore = await sql.begin(async (transaction) => {
      await transaction`select 1 from usage_watermark for update`
      return await countEndedCalls(transaction, stepSeconds)
    })
  }
}
