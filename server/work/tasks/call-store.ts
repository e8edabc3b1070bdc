/**
 * The SQL of work that workers start: stored request bodies, conversions, and the start of a call.
 */
import type { Sql, TransactionSql } from 'postgres'
import type { OwnTask } from './store.ts'
import type { ClaimedTask } from './task.ts'

export async function insertBody(sql: TransactionSql, taskId: string, body: Buffer): Promise<void> {
  await sql`insert into task_body (task_id, body) values (${taskId}, ${body})`
}

export async function readTaskBody(sql: Sql, taskId: string): Promise<Buffer | undefined> {
  const [row] = await sql<{ body: Buffer }[]>`select body from task_body where task_id = ${taskId}`
  return row?.body
}

export async function deleteBody(sql: TransactionSql, taskId: string): Promise<void> {
  await sql`delete from task_body where task_id = ${taskId}`
}

/** Queues the conversion of a recording, in the transaction that creates its task. */
export async function insertConversion(
  sql: TransactionSql,
  taskId: string,
  accountId: string,
): Promise<void> {
  await sql`
    insert into task_conversion (task_id, account_id) values (${taskId}, ${accountId})`
  await sql`select pg_notify('tributary_conversion', '')`
}

/** Removes the conversion of a task that ends, if it has one. */
export async function deleteConversion(sql: TransactionSql, task: OwnTask): Promise<void> {
  await sql`
    delete from task_conversion
    where task_id = ${task.id} and account_id = ${task.account_id}`
}

/** Commits that the call is about to be sent. False when the lease is lost: then send nothing. */
export async function markCalling(
  sql: TransactionSql,
  task: Pick<ClaimedTask, 'id' | 'account_id' | 'fence' | 'attempt_id'>,
): Promise<boolean> {
  const updated = await sql`
    with t as (
      update task set state = 'processing',
        updated_at = case when state <> 'processing' then now() else updated_at end
      where id = ${task.id} and account_id = ${task.account_id}
        and fence = ${task.fence.toString()}::bigint and due_at is not null
      returning id)
    update task_attempt a set state = 'sending', sent_at = now()
    from t where a.task_id = t.id and a.id = ${task.attempt_id} and a.state = 'prepared'`
  return updated.count === 1
}
