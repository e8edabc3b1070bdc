/**
 * What vendors report of attempts, and the tasks that become due by it. Whoever changes a task and
 * its attempt locks the task first.
 */
import type { Sql, TransactionSql } from 'postgres'
import type { TaskKind } from '../../upstreams/task-driver.ts'
import type { AttemptState } from '../task.ts'

/** Whose attempt it is, and who made it. */
export interface AttemptPlace {
  readonly task_id: string
  readonly kind: TaskKind
  readonly channel_id: string
  readonly channel_version: number
}

export async function findAttempt(sql: Sql, attemptId: string): Promise<AttemptPlace | undefined> {
  const [row] = await sql<AttemptPlace[]>`
    select a.task_id, t.kind, a.channel_id, a.channel_version
    from task_attempt a join task t on t.id = a.task_id where a.id = ${attemptId}`
  return row
}

/** How far an attempt has come, while its task is locked. */
export interface AttemptNow {
  readonly state: AttemptState
  readonly upstream_id: string | null
  readonly callback_count: number
  /** False once another attempt carries the task. */
  readonly is_current: boolean
  readonly has_ended: boolean
}

/** Locks the task until the transaction ends. */
export async function lockAttempt(
  sql: TransactionSql,
  taskId: string,
  attemptId: string,
): Promise<AttemptNow | undefined> {
  // By a statement of its own: what a statement reads beside a row that it waited for is old.
  await sql`select 1 from task where id = ${taskId} for update`
  const [row] = await sql<AttemptNow[]>`
    select a.state, a.upstream_id, a.callback_count, t.attempt_id = a.id as is_current,
      t.due_at is null as has_ended
    from task_attempt a join task t on t.id = a.task_id where a.id = ${attemptId}`
  return row
}

/** Whether another attempt on this channel has the id. */
export async function isAnothers(
  sql: TransactionSql,
  channelId: string,
  attemptId: string,
  upstreamId: string,
): Promise<boolean> {
  const [row] = await sql`
    select 1 from task_attempt
    where channel_id = ${channelId} and upstream_id = ${upstreamId} and id <> ${attemptId}`
  return row !== undefined
}

export async function noteCallback(
  sql: TransactionSql,
  attemptId: string,
  upstreamId: string | null,
): Promise<void> {
  await sql`
    update task_attempt set callback_count = callback_count + 1,
      callback_upstream_id = coalesce(${upstreamId}::text, callback_upstream_id)
    where id = ${attemptId}`
}

/**
 * Makes the task of an attempt due by a report: now, but not sooner than `everyMs` after the last
 * time that a report did. One that is still to come will see what this report is about. Whoever
 * looks at the task at this moment keeps it, and finds the report when they put it back.
 */
export async function wakeByCallback(
  sql: TransactionSql,
  attemptId: string,
  everyMs: number,
): Promise<void> {
  await sql`
    with noted as (
      update task_attempt set callback_due_at = case
        when callback_due_at > now() then callback_due_at
        else greatest(now(), callback_due_at + ${everyMs}::float8 * interval '1 millisecond') end
      where id = ${attemptId} returning task_id, callback_due_at)
    update task set due_at = least(due_at, noted.callback_due_at)
    from noted where task.id = noted.task_id and due_at is not null
      and not (is_claimed and due_at > now())`
}

/** The same, without a wait, for a report that came while nobody could use it. */
export async function wakeByKeptCallback(sql: TransactionSql, attemptId: string): Promise<void> {
  await sql`
    update task set due_at = least(due_at, now()) from task_attempt a
    where a.id = ${attemptId} and a.callback_upstream_id is not null and task.id = a.task_id
      and due_at is not null`
}
