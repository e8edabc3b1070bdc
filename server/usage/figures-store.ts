/**
 * Figures about an account's calls: what the background job has counted, and the calls that ended
 * since. One statement sees both as they were at one moment, so no call is missing or counted
 * twice.
 */
import type { Sql } from 'postgres'

export interface FigureFilter {
  readonly accountId: string
  readonly from: Date
  readonly to: Date
  readonly model?: string
  readonly endpoint?: string
  readonly keyId?: string
}

export interface Figures {
  readonly calls: bigint
  readonly errors: bigint
  readonly cancelled: bigint
  readonly charged: bigint
}

export interface GroupedFigures extends Figures {
  readonly name: string
}

export interface BucketFigures extends Figures {
  readonly at: Date
}

/**
 * Counted and uncounted rows of one shape. `offset 0` keeps the account's condition out of the
 * inner scan: only the index over ends finds the few last calls, whatever the planner believes.
 */
function figures(sql: Sql, filter: FigureFilter) {
  const { accountId, from, to, model, endpoint, keyId } = filter
  const narrowed = sql`
    ${model ? sql`and model = ${model}` : sql``}
    ${endpoint ? sql`and endpoint = ${endpoint}` : sql``}
    ${keyId ? sql`and key_id = ${keyId}` : sql``}`
  return sql`(
    select hour, model, key_id, endpoint, calls, errors, cancelled, charged from usage_hour
    where account_id = ${accountId} and hour >= date_trunc('hour', ${from}::timestamptz, 'UTC')
      and hour < ${to} ${narrowed}
    union all
    select date_trunc('hour', created_at, 'UTC'), model, key_id, endpoint, 1::bigint,
      (status in ('failed', 'lost'))::int::bigint, (status = 'cancelled')::int::bigint, charged
    from (
      select * from call
      where finished_at >= (
        select coalesce(counted_until, '-infinity') from usage_watermark)
      offset 0) uncounted
    where account_id = ${accountId} and created_at < ${to}
      and created_at >= date_trunc('hour', ${from}::timestamptz, 'UTC') ${narrowed})`
}

const sums = (sql: Sql) => sql`
  coalesce(sum(calls), 0)::bigint as calls, coalesce(sum(errors), 0)::bigint as errors,
  coalesce(sum(cancelled), 0)::bigint as cancelled, coalesce(sum(charged), 0)::bigint as charged`

/** By hour or by day of the time zone; buckets without a call are left out. */
export function readSeries(
  sql: Sql,
  filter: FigureFilter,
  by: { readonly step: 'hour' | 'day'; readonly timeZone: string },
): Promise<BucketFigures[]> {
  return sql<BucketFigures[]>`
    select date_trunc(${by.step}, hour, ${by.timeZone}) as at, ${sums(sql)}
    from ${figures(sql, filter)} f group by 1 order by 1`
}

/** The largest by charge, then by calls. */
export function readTop(
  sql: Sql,
  filter: FigureFilter,
  by: 'model' | 'key_id' | 'endpoint',
  limit: number,
): Promise<GroupedFigures[]> {
  return sql<GroupedFigures[]>`
    select ${sql(by)} as name, ${sums(sql)}
    from ${figures(sql, filter)} f group by 1
    order by sum(charged) desc, sum(calls) desc, 1 limit ${limit}`
}

export interface LatencyRow {
  readonly at: Date
  readonly bucket: number
  readonly calls: bigint
}

/** How long successful calls took, those of tasks left out; see latency_bucket. */
export function readLatency(
  sql: Sql,
  filter: Omit<FigureFilter, 'endpoint' | 'keyId'>,
  by: { readonly step: 'hour' | 'day'; readonly timeZone: string },
): Promise<LatencyRow[]> {
  const { accountId, from, to, model } = filter
  const narrowed = model ? sql`and model = ${model}` : sql``
  return sql<LatencyRow[]>`
    select date_trunc(${by.step}, hour, ${by.timeZone}) as at, bucket::int,
      sum(calls)::bigint as calls
    from (
      select hour, bucket, calls from latency_hour
      where account_id = ${accountId} and hour >= date_trunc('hour', ${from}::timestamptz, 'UTC')
        and hour < ${to} ${narrowed}
      union all
      select date_trunc('hour', created_at, 'UTC'), latency_bucket(created_at, finished_at), 1
      from (
        select * from call
        where finished_at >= (
          select coalesce(counted_until, '-infinity') from usage_watermark)
        offset 0) uncounted
      where account_id = ${accountId} and status = 'succeeded' and task_id is null
        and created_at < ${to} and created_at >= date_trunc('hour', ${from}::timestamptz, 'UTC')
        ${narrowed}) l
    group by 1, 2 order by 1, 2`
}
