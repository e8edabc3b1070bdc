/** The SQL that deletes old deliveries with their attempts, in small batches. */
import type { Sql } from 'postgres'

/** Deletes up to `limit` deliveries that ended more than `days` ago. Returns their number. */
export async function deleteOldDeliveries(sql: Sql, days: number, limit: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    with old as (
      select id from delivery
      where finished_at < now() - ${days}::float8 * interval '1 day'
      order by finished_at limit ${limit} for update skip locked),
    attempts as (delete from delivery_attempt where delivery_id in (select id from old)),
    deleted as (delete from delivery where id in (select id from old) returning 1)
    select count(*)::int as count from deleted`
  return row?.count ?? 0
}
