/** SQL of the library's charges and of running subtitle erasures. */
import type { Sql } from 'postgres'

export async function readCharges(
  sql: Sql,
  accountId: string,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql<{ request_id: string; charged: bigint }[]>`
    select request_id, charged from call
    where request_id = any(${requestIds as string[]}::text[]) and account_id = ${accountId}`
  return new Map(rows.map((row) => [row.request_id, row.charged]))
}

export interface RunningErase {
  readonly task_id: string
  readonly video_task_id: string
  readonly since: Date
}

/** Open tasks are few and have a partial index of their own. */
export function selectRunningErases(sql: Sql, accountId: string): Promise<RunningErase[]> {
  return sql<RunningErase[]>`
    select id as task_id, request->>'video_task_id' as video_task_id, created_at as since from task
    where due_at is not null and kind = 'erase' and account_id = ${accountId}
      and deleted_at is null`
}
