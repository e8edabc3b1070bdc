/**
 * The SQL of vendor callbacks: records them and makes their tasks due. Every writer of both a task
 * and its attempt locks the task first.
 */
import type { Sql, TransactionSql } from 'postgres'
import type { TaskKind } from '../../../base/lib/kinds-and-states.ts'
import type { AttemptState, TaskRow } from '../task.ts'

/** The task and the channel of an attempt. */
export interface AttemptOwner {
  readonly task_id: string
  readonly account_id: string
  readonly kind: TaskKind
  readonly channel_id: string
  readonly channel_version: number
}

export async function findAttempt(sql: Sql, attemptId: string): Promise<AttemptOwner | undefined> {
  const [row] = await sql<AttemptOwner[]>`
    select a.task_id, t.account_id, t.kind, a.channel_id, a.channel_version
    from task_attempt a join task t on t.id = a.task_id where a.id = ${attemptId}`
  return row
}

/** The state of an attempt whose task is locked. */
export interface LockedAttempt {
  readonly state: AttemptState
  readonly upstream_id: string | null
  readonly callback_count: number
  /** False once the task has a newer attempt. */
  readonly is_current: boolean
  readonly has_ended: boolean
}

/** Locks the task until the transaction ends and returns the attempt's state. */
export async function lockAttempt(
  sql: TransactionSql,
  { task_id: taskId, account_id: accountId }: AttemptOwner,
  attemptId: string,
): Promise<LockedAttempt | undefined> {
  // A separate statement: one that waited for a row lock reads other rows as of before the wait.
  await sql`select 1 from task where id = ${taskId} and account_id = ${accountId} for update`
  const [row] = await sql<LockedAttempt[]>`
    select a.state, a.upstream_id, a.callback_count, t.attempt_id = a.id as is_current,
      t.due_at is null as has_ended
    from task_attempt a join task t on t.id = a.task_id
    where a.id = ${attemptId} and t.account_id = ${accountId}`
  return row
}

/** Returns whether the upstream id belongs to another attempt on this channel. */
export async function belongsToOtherAttempt(
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

/** Counts a callback and records the upstream id that it names. */
export async function recordCallback(
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
 * Makes the task due because of a callback: now, but at least `intervalMs` after the last time that
 * a callback did. A due time that is still ahead stays, since that poll will see the same news. A
 * running claim stays too; the callback takes effect when the task is rescheduled.
 */
export async function wakeByCallback(
  sql: TransactionSql,
  { account_id: accountId }: AttemptOwner,
  attemptId: string,
  intervalMs: number,
): Promise<void> {
  await sql`
    with noted as (
      update task_attempt set callback_due_at = case
        when callback_due_at > now() then callback_due_at
        else greatest(now(), callback_due_at + ${intervalMs}::float8 * interval '1 millisecond') end
      where id = ${attemptId} returning task_id, callback_due_at)
    update task set due_at = least(due_at, noted.callback_due_at)
    from noted where task.id = noted.task_id and account_id = ${accountId}
      and due_at is not null and not (is_claimed and due_at > now())`
}

/** Makes the task due at once if an earlier callback named an upstream id. */
export async function wakeByEarlierCallback(
  sql: TransactionSql,
  task: Pick<TaskRow, 'account_id' | 'attempt_id'>,
): Promise<void> {
  await sql`
    update task set due_at = least(due_at, now()) from task_attempt a
    where a.id = ${task.attempt_id} and a.callback_upstream_id is not null
      and task.id = a.task_id and task.account_id = ${task.account_id} and due_at is not null`
}
