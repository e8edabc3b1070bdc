/** The SQL of recordings that wait for their conversion. */
import type { Sql } from 'postgres'

export interface ClaimedConversion {
  readonly task_id: string
  readonly account_id: string
  /** The number of claims so far, including this one. */
  readonly attempts: number
  /** The fencing token of the task, of which this claim is the only holder. */
  readonly fence: bigint
}

/**
 * Claims up to `limit` due conversions, and the tasks with them. Accounts take turns in random
 * order: each account's first conversion comes before the second of any other.
 */
export function claimConversions(
  sql: Sql,
  limit: number,
  leaseMs: number,
): Promise<ClaimedConversion[]> {
  return sql<ClaimedConversion[]>`
    with due as (
      select task_id from task_conversion where due_at <= now() and task_id in (
        select task_id from (
          select task_id, row_number() over (partition by account_id order by due_at) as turn
          from task_conversion where due_at <= now()) as waiting
        order by turn, random() limit ${limit})
      for update skip locked),
    claimed as (
      update task_conversion c set attempts = attempts + 1,
        due_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
      from due where c.task_id = due.task_id returning c.task_id, c.account_id, c.attempts)
    update task t set fence = fence + 1 from claimed
    where t.id = claimed.task_id and t.account_id = claimed.account_id
      and t.due_at is not null
    returning claimed.task_id, claimed.account_id, claimed.attempts, t.fence`
}

/** Extends the lease of a claim. Without effect when it is lost, or the task has been submitted. */
export async function renewConversion(
  sql: Sql,
  { task_id: taskId, account_id: accountId, fence }: ClaimedConversion,
  leaseMs: number,
): Promise<void> {
  await sql`
    update task_conversion set due_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
    where task_id = ${taskId} and account_id = ${accountId} and exists (
      select 1 from task where id = ${taskId} and account_id = ${accountId}
        and fence = ${fence.toString()}::bigint)`
}

/**
 * Ends a claim: the next attempt is due after `dueInMs`. A conversion that was not attempted does
 * not count.
 */
export async function rescheduleConversion(
  sql: Sql,
  { task_id: taskId, account_id: accountId, fence }: ClaimedConversion,
  { dueInMs, counts }: { readonly dueInMs: number; readonly counts: boolean },
): Promise<void> {
  await sql`
    update task_conversion set due_at = now() + ${dueInMs}::float8 * interval '1 millisecond',
      attempts = attempts - ${counts ? 0 : 1}::int
    where task_id = ${taskId} and account_id = ${accountId} and exists (
      select 1 from task where id = ${taskId} and account_id = ${accountId}
        and fence = ${fence.toString()}::bigint)`
}

/** Returns the milliseconds until the next conversion becomes due, or null without one. */
export async function readNextConversionMs(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ wait_ms: number | null }[]>`
    select extract(epoch from min(due_at) - now())::float8 * 1000 as wait_ms
    from task_conversion where due_at > now()`
  return row?.wait_ms ?? null
}

/** Makes up to `limit` conversions due in a minute that are due in over `seconds`. */
export async function hurryConversions(sql: Sql, seconds: number, limit: number): Promise<number> {
  const hurried = await sql`
    with late as materialized (
      select task_id from task_conversion
      where due_at > now() + ${seconds}::float8 * interval '1 second'
      order by due_at limit ${limit} for update skip locked)
    update task_conversion c set due_at = now() + interval '1 minute'
    from late where c.task_id = late.task_id`
  return hurried.count
}
