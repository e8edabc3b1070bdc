/** The SQL that deletes old timeline events in small batches; tasks and their records stay. */
import type { Sql } from 'postgres'

/**
 * Deletes up to `limit` events older than `days`. Returns their number. Events are written in the
 * order of their ids, so only the head of the table is read.
 */
export async function deleteOldEvents(sql: Sql, days: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from task_event where id in (
      select id from (select id, at from task_event order by id limit ${limit}) head
      where at < now() - ${days}::float8 * interval '1 day')`
  return deleted.count
}
