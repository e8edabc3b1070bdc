/** SQL of the channels' open tasks. */
import type { Sql } from 'postgres'

/** Returns the number of open tasks by channel. */
export async function countOpenTasks(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ channel_id: string; open: number }[]>`
    select channel_id, count(*)::int as open from task where due_at is not null group by channel_id`
  return new Map(rows.map(({ channel_id: channel, open }) => [channel, open]))
}
