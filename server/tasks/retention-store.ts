/** Old timelines leave the database, a few events at a time; tasks and their records stay. */
import type { Sql } from 'postgres'

/**
 * Deletes up to `limit` events older than `days`, and says how many there were. Events are written
 * in the order of their ids: only the head of the table is looked at.
 */
export async function deleteOldEvents(sql: Sql, days: number, limit: number): Promise<number> {
  const deleted = await sql`
    delete from task_event where id in (
      select id from (select id, at from task_event order by id limit ${limit}) head
      where at < now() - ${days}::float8 * interval '1 day')`
  return deleted.count
}
