/**
 * Counts ended calls into figures with the database's `count_ended_calls`, and adds up figures of
 * days with its `add_up_day`.
 */
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

/** The accounts of one transaction that adds up a day. */
const ACCOUNTS = 20

/** Adds up a part of the oldest day that is not added up yet. Returns true if more remains. */
export async function addUpDay(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ more: boolean }[]>`select add_up_day(${ACCOUNTS}) as more`
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
