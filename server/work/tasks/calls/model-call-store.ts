/** The SQL of follow-up calls that a worker makes for a task. */
import type { Sql } from 'postgres'

export interface NewTaskCall {
  readonly id: string
  readonly taskId: string
  readonly accountId: string
  readonly fence: bigint
  readonly channelId: string
  readonly upstreamModel: string
}

/**
 * Commits that a call is about to be sent, and marks a call of a process that died as unknown.
 * Returns the number of this call, or undefined when the lease is lost.
 */
export async function beginTaskCall(sql: Sql, call: NewTaskCall): Promise<number | undefined> {
  return await sql.begin(async (transaction) => {
    const [task] = await transaction`
      select 1 from task where id = ${call.taskId} and account_id = ${call.accountId}
        and finished_at is null and fence = ${call.fence.toString()}::bigint for update`
    if (!task) return undefined
    await transaction`
      update task_call set state = 'unknown', failure = 'its process died', ended_at = now()
      where task_id = ${call.taskId} and state = 'sending'`
    const [row] = await transaction<{ number: number }[]>`
      insert into task_call (id, task_id, number, channel_id, upstream_model)
      select ${call.id}, ${call.taskId}, count(*)::int + 1, ${call.channelId},
        ${call.upstreamModel}
      from task_call where task_id = ${call.taskId}
      returning number`
    return row?.number
  })
}

export async function countTaskCalls(sql: Sql, taskId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from task_call where task_id = ${taskId}`
  return row?.count ?? 0
}

export async function endTaskCall(
  sql: Sql,
  id: string,
  state: 'answered' | 'refused' | 'unknown',
  failure: string | null,
): Promise<void> {
  await sql`
    update task_call set state = ${state}, failure = ${failure?.slice(0, 500) ?? null},
      ended_at = now()
    where id = ${id} and state = 'sending'`
}
