/**
 * The SQL of the task queue. A claim raises the fencing token and moves the due time to the end of
 * the lease; rows that another process is claiming are skipped.
 */
import type { PendingQuery, Row, Sql } from 'postgres'
import type { TaskKind } from '../../base/lib/kinds-and-states.ts'
import { claimColumns, columns, joinPrices, type OwnTask } from './store.ts'
import type { ClaimedTask, TaskState } from './task.ts'

/** The tasks of one kind on one channel, which share one limit of concurrent polls. */
export interface QueuePartition {
  readonly channel_id: string
  readonly kind: TaskKind
}

/** Returns the queue partitions with due tasks. */
export function dueQueuePartitions(sql: Sql): Promise<QueuePartition[]> {
  return sql<QueuePartition[]>`select distinct channel_id, kind from task where due_at <= now()`
}

/** Returns the milliseconds until the next task becomes due, or null without one. */
export async function readNextTaskMs(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ wait_ms: number | null }[]>`
    select extract(epoch from min(due_at) - now())::float8 * 1000 as wait_ms
    from task where due_at > now()`
  return row?.wait_ms ?? null
}

/** Returns whether any task has not ended, in any process. */
export async function hasOpenTasks(sql: Sql): Promise<boolean> {
  const [row] = await sql`select 1 from task where due_at is not null limit 1`
  return row !== undefined
}

/**
 * Makes up to `limit` open tasks due in a minute that are due in over `seconds`. Tasks whose
 * recording is converted first may wait for hours and are left alone. Returns their number.
 */
export async function hurryTasks(sql: Sql, seconds: number, limit: number): Promise<number> {
  const hurried = await sql`
    with late as materialized (
      select id from task t where due_at > now() + ${seconds}::float8 * interval '1 second'
        and not exists (
          select from task_conversion c where c.task_id = t.id and c.account_id = t.account_id)
      order by due_at limit ${limit} for update skip locked)
    update task t set due_at = now() + interval '1 minute' from late where t.id = late.id`
  return hurried.count
}

/** Claims up to `limit` due tasks of a queue partition, the longest due first. */
export function claimDueTasks(
  sql: Sql,
  { channel_id: channelId, kind }: QueuePartition,
  limit: number,
  leaseMs: number,
): Promise<ClaimedTask[]> {
  const due = sql`
    select id, account_id from task
    where channel_id = ${channelId} and kind = ${kind} and due_at <= now()
    order by due_at limit ${limit} for update skip locked`
  return claim(sql, due, leaseMs)
}

/**
 * Claims due tasks whose work takes long: accounts take turns, so that one account's backlog does
 * not delay another. Reads only the first due tasks of each account, however long its backlog.
 */
export function claimByAccountTurns(
  sql: Sql,
  { channel_id: channelId, kind }: QueuePartition,
  limit: number,
  leaseMs: number,
): Promise<ClaimedTask[]> {
  const open = sql`
    from task where channel_id = ${channelId} and kind = ${kind} and due_at is not null`
  const due = sql`
    select id, account_id from task where due_at <= now() and id in (
      with recursive waiting as (
        (select account_id ${open} order by account_id limit 1)
        union all
        select (select task.account_id ${open} and task.account_id > waiting.account_id
          order by task.account_id limit 1)
        from waiting where waiting.account_id is not null)
      select first.id from waiting cross join lateral (
        select id, due_at, row_number() over (order by due_at) as turn
        ${open} and task.account_id = waiting.account_id and due_at <= now()
        order by due_at limit ${limit}) first
      order by first.turn, first.due_at limit ${limit})
    for update skip locked`
  return claim(sql, due, leaseMs)
}

function claim(sql: Sql, due: PendingQuery<Row[]>, leaseMs: number): Promise<ClaimedTask[]> {
  return sql<ClaimedTask[]>`
    with due as (${due}), t as (
      update task set fence = fence + 1, is_claimed = true,
        due_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
      from due where task.id = due.id and task.account_id = due.account_id
      returning task.*)
    select ${columns(sql)}, ${claimColumns(sql)}
    from t join task_attempt a on a.id = t.attempt_id
    join hold h on h.id = t.hold_id and h.account_id = t.account_id
    ${joinPrices(sql)}`
}

/** Claims an accepted task from any current holder, whose writes the fencing token then refuses. */
export async function claimOne(
  sql: Sql,
  task: OwnTask,
  leaseMs: number,
  states: readonly TaskState[] = ['queued', 'processing'],
): Promise<ClaimedTask | undefined> {
  const [row] = await sql<ClaimedTask[]>`
    with t as (
      update task set fence = fence + 1, is_claimed = true,
        due_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
      where id = ${task.id} and account_id = ${task.account_id} and state = any(${states})
      returning task.*)
    select ${columns(sql)}, ${claimColumns(sql)}
    from t join task_attempt a on a.id = t.attempt_id
    join hold h on h.id = t.hold_id and h.account_id = t.account_id
    ${joinPrices(sql)}`
  return row
}
