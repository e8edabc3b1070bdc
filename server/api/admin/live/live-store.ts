/** SQL of the current state of all viewed accounts, in one statement. */
import type { Sql } from 'postgres'

export interface LiveRow {
  readonly account_id: string
  readonly available: bigint
  readonly held: bigint
  readonly debt: bigint
  /** The number of calls that ended in the last seconds, and when the latest one did. */
  readonly calls: number
  readonly last_end: string | null
  /**
   * The end of the latest task, if it was in the last seconds: a task may begin and end between two
   * polls.
   */
  readonly last_task_end: string | null
  /** The number of open tasks, and a version that changes with each of their steps. */
  readonly open_tasks: number
  readonly tasks_mark: bigint
  readonly pending_deliveries: number
  readonly deliveries_mark: bigint
  /** The end of the latest delivery, if it was in the last seconds. */
  readonly last_delivery_end: string | null
}

/**
 * Reads only running or just ended items: the last seconds of calls and deliveries by the indexes
 * over their ends, open tasks and pending deliveries by partial indexes.
 */
export function readLive(
  sql: Sql,
  accountIds: readonly string[],
  sinceSeconds: number,
): Promise<LiveRow[]> {
  const ids = accountIds as string[]
  return sql<LiveRow[]>`
    with ended as (
      select account_id, count(*)::int as calls, max(finished_at)::text as last_end,
        (max(finished_at) filter (where task_id is not null))::text as last_task_end
      from (select account_id, finished_at, task_id from call
        where finished_at >= now() - make_interval(secs => ${sinceSeconds}) offset 0) c
      where account_id = any(${ids}::text[]) group by account_id
    ), open as (
      select account_id, count(*)::int as tasks, sum(hashtextextended(id || state, 0)) as mark
      from task where due_at is not null and account_id = any(${ids}::text[])
      group by account_id
    ), sending as (
      select account_id, count(*)::int as deliveries,
        sum(hashtextextended(id || attempts || (lease_until is null), 0)) as mark
      from (
        select * from delivery where state = 'pending' and lease_until is null
        union all
        select * from delivery where lease_until is not null) d
      where account_id = any(${ids}::text[]) group by account_id
    ), sent as (
      select account_id, max(finished_at)::text as last_delivery_end
      from (select account_id, finished_at from delivery
        where finished_at >= now() - make_interval(secs => ${sinceSeconds}) offset 0) d
      where account_id = any(${ids}::text[]) group by account_id
    )
    select b.account_id, b.available, b.held, b.debt, coalesce(e.calls, 0) as calls, e.last_end,
      e.last_task_end, n.last_delivery_end, coalesce(o.tasks, 0) as open_tasks,
      (coalesce(o.mark, 0) % 1000000007)::bigint as tasks_mark,
      coalesce(s.deliveries, 0) as pending_deliveries,
      (coalesce(s.mark, 0) % 1000000007)::bigint as deliveries_mark
    from balance b
    left join ended e on e.account_id = b.account_id
    left join open o on o.account_id = b.account_id
    left join sending s on s.account_id = b.account_id
    left join sent n on n.account_id = b.account_id
    where b.account_id = any(${ids}::text[])`
}
