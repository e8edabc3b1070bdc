/** Figures over all accounts: what was counted by hour, and the calls that ended since. */
import type { Sql } from 'postgres'

export interface OverviewSpan {
  readonly from: Date
  readonly to: Date
}

interface Sums {
  readonly currency: string
  readonly calls: bigint
  readonly errors: bigint
  readonly revenue: bigint
}

/** One row for each account, hour and model in the span. */
function rows(sql: Sql, { from, to }: OverviewSpan) {
  return sql`(
    select u.account_id, u.hour, u.model, u.calls, u.errors, u.charged from usage_hour u
    where u.hour >= date_trunc('hour', ${from}::timestamptz, 'UTC') and u.hour < ${to}
    union all
    select c.account_id, date_trunc('hour', c.created_at, 'UTC'), c.model, 1,
      (c.status in ('failed', 'lost'))::int, c.charged
    from (
      select * from call where finished_at >= (
        select coalesce(counted_until, '-infinity') from usage_watermark)
      offset 0) c
    where c.created_at >= ${from} and c.created_at < ${to}) r`
}

const sums = (sql: Sql) => sql`
  sum(r.calls)::bigint as calls, sum(r.errors)::bigint as errors, sum(r.charged)::bigint as revenue`

export function readRevenueSeries(
  sql: Sql,
  span: OverviewSpan,
  by: { readonly step: 'hour' | 'day'; readonly timeZone: string },
): Promise<(Sums & { readonly at: Date })[]> {
  return sql<(Sums & { at: Date })[]>`
    select date_trunc(${by.step}, r.hour, ${by.timeZone}) as at, b.currency, ${sums(sql)}
    from ${rows(sql, span)} join balance b on b.account_id = r.account_id
    group by 1, 2 order by 1, 2`
}

export function readTopAccounts(
  sql: Sql,
  span: OverviewSpan,
): Promise<(Sums & { readonly account_id: string; readonly name: string })[]> {
  return sql<(Sums & { account_id: string; name: string })[]>`
    select r.account_id, a.name, a.currency, ${sums(sql)}
    from ${rows(sql, span)} join account a on a.id = r.account_id
    group by 1, 2, 3 order by sum(r.charged) desc, sum(r.calls) desc limit 10`
}

export function readTopModels(
  sql: Sql,
  span: OverviewSpan,
): Promise<(Sums & { readonly model: string })[]> {
  return sql<(Sums & { model: string })[]>`
    select r.model, b.currency, ${sums(sql)}
    from ${rows(sql, span)} join balance b on b.account_id = r.account_id
    group by 1, 2 order by sum(r.charged) desc, sum(r.calls) desc limit 10`
}

export async function countActive(sql: Sql, span: OverviewSpan) {
  const [row] = await sql<{ accounts: number; tasks: number }[]>`
    select (select count(distinct r.account_id)::int from ${rows(sql, span)}) as accounts,
      (select count(*)::int from task where due_at is not null) as tasks`
  return row ?? { accounts: 0, tasks: 0 }
}
