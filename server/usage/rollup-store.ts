/** Counting ended calls into the figures by hour; see migrations/0065. */
import type { Sql } from 'postgres'

/** Counts one step. Returns whether there is more to count at once. */
export async function countEndedCalls(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ more: boolean }[]>`select count_ended_calls() as more`
  return row?.more ?? false
}
