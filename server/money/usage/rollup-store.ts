/** Counts ended calls into hourly figures with the database's `count_ended_calls`. */
import type { Sql } from 'postgres'

/**
 * Counts calls that ended within `stepSeconds` after the last one counted. Returns true if more
 * remain.
 */
export async function countEndedCalls(sql: Sql, stepSeconds: number): Promise<boolean> {
  const [row] = await sql<{ more: boolean }[]>`
    select count_ended_calls(make_interval(secs => ${stepSeconds})) as more`
  return row?.more ?? false
}
