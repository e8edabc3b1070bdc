/** SQL of the spending of channels, for their caps. */
import type { Sql } from 'postgres'

export interface SpendingRow {
  readonly channel: string
  readonly currency: string
  /** Upstream costs of the calls that ended, or their charges where the cost is not known. */
  readonly day: bigint
  readonly month: bigint
  /** The holds of open tasks. */
  readonly held: bigint
}

/**
 * Reads the spending of calls that began on the current day and in the current month (UTC). One
 * statement reads counted and uncounted calls and open tasks from one snapshot. `offset 0` makes
 * PostgreSQL find the few uncounted calls by `finished_at` before it applies the condition on
 * `created_at`. The clock is that of budgets, so that all spending windows reset at the same time,
 * in tests as well.
 */
export function readChannelSpending(
  sql: Sql,
  channels: readonly string[],
): Promise<readonly SpendingRow[]> {
  return sql<SpendingRow[]>`
    with span as (
      select date_trunc('day', at, 'UTC') as day, date_trunc('month', at, 'UTC') as month
      from budget_clock() at
    ), spent as (
      select split_part(channel, '#', 1) as channel, currency, hour,
        upstream_cost + uncosted as amount, 0::bigint as held
      from channel_hour where hour >= (select month from span)
      union all
      select split_part(attempts -> -1 ->> 'channel', '#', 1), currency, created_at,
        coalesce(upstream_cost, charged), 0
      from (
        select * from call where finished_at >= (
          select coalesce(counted_until, '-infinity') from usage_watermark)
        offset 0) uncounted
      where created_at >= (select month from span)
      union all
      select split_part(channel_id, '#', 1), account.currency, task.created_at, 0, hold.amount
      from task join hold on hold.id = hold_id join account on account.id = task.account_id
      where due_at is not null and hold.state = 'open'
    )
    select channel, currency, coalesce(sum(held), 0)::bigint as held,
      coalesce(sum(amount) filter (where hour >= (select day from span)), 0)::bigint as day,
      coalesce(sum(amount), 0)::bigint as month
    from spent where channel = any(${channels as string[]}::text[])
    group by channel, currency`
}
