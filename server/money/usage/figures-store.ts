/**
 * Figures of an account's calls: those counted by the background job plus the calls that ended
 * since. One statement reads both from one snapshot, so no call is missing or counted twice. The
 * column `hour` has the quarter of an hour, so that the days of every time zone are exact.
 */
import type { Sql } from 'postgres'

export interface FigureFilter {
  readonly accountId: string
  readonly from: Date
  readonly to: Date
  readonly model?: string | undefined
  readonly endpoint?: string | undefined
  readonly keyIds?: readonly string[] | undefined
}

export interface UsageFigures {
  readonly calls: bigint
  readonly errors: bigint
  readonly cancelled: bigint
  readonly charged: bigint
}

export interface GroupedFigures extends UsageFigures {
  readonly name: string
}

export interface BucketFigures extends UsageFigures {
  readonly at: Date
}

/** The dimension that figures are grouped by. */
type Part = 'all' | 'model' | 'key' | 'endpoint'

const COLUMNS = { model: 'model', key: 'key_id', endpoint: 'endpoint' } as const

export interface SeriesStep {
  readonly step: 'hour' | 'day'
  readonly timeZone: string
}

type Narrowing = Pick<FigureFilter, 'model' | 'endpoint' | 'keyIds'>

export function narrow(sql: Sql, { model, endpoint, keyIds }: Narrowing) {
  return sql`
    ${model ? sql`and model = ${model}` : sql``}
    ${endpoint ? sql`and endpoint = ${endpoint}` : sql``}
    ${keyIds ? sql`and key_id = any(${keyIds as string[]}::text[])` : sql``}`
}

export function inHours(sql: Sql, { from, to }: FigureFilter) {
  return sql`hour >= usage_slot(${from}::timestamptz) and hour < ${to}`
}

/**
 * Selects calls of the account that ended after the last count. `offset 0` keeps the account's
 * condition out of the inner scan, which forces the index on end times; it finds the few latest
 * calls.
 */
function uncounted(sql: Sql, filter: FigureFilter) {
  return sql`(
    select usage_slot(created_at) as hour, c.* from (
      select * from call
      where finished_at >= (
        select coalesce(counted_until, '-infinity') from usage_watermark)
      offset 0) c
    where account_id = ${filter.accountId} ${narrow(sql, filter)}) uncounted`
}

/** Selects counted figures: per dimension, or from all dimensions if a filter applies. */
function counted(sql: Sql, filter: FigureFilter, part: Part) {
  const { accountId, model, endpoint, keyIds } = filter
  if (!model && !endpoint && !keyIds) {
    return sql`
      select hour, name, calls, errors, cancelled, charged from usage_part
      where account_id = ${accountId} and part = ${part} and ${inHours(sql, filter)}`
  }
  return sql`
    select hour, ${part === 'all' ? sql`''` : sql(COLUMNS[part])} as name, calls, errors,
      cancelled, charged
    from usage_hour
    where account_id = ${accountId} and ${inHours(sql, filter)} ${narrow(sql, filter)}`
}

export function figureRows(sql: Sql, filter: FigureFilter, part: Part) {
  return sql`(
    ${counted(sql, filter, part)}
    union all
    select hour, ${part === 'all' ? sql`''` : sql(COLUMNS[part])}, 1::bigint,
      (status in ('failed', 'lost'))::int::bigint, (status = 'cancelled')::int::bigint, charged
    from ${uncounted(sql, filter)} where ${inHours(sql, filter)}) f`
}

export const sums = (sql: Sql) => sql`
  coalesce(sum(calls), 0)::bigint as calls, coalesce(sum(errors), 0)::bigint as errors,
  coalesce(sum(cancelled), 0)::bigint as cancelled, coalesce(sum(charged), 0)::bigint as charged`

/** Returns figures by hour or by day of the time zone; buckets without calls are left out. */
export function readSeries(
  sql: Sql,
  filter: FigureFilter,
  by: SeriesStep,
): Promise<BucketFigures[]> {
  return sql<BucketFigures[]>`
    select date_trunc(${by.step}, hour, ${by.timeZone}) as at, ${sums(sql)}
    from ${figureRows(sql, filter, 'all')} group by 1 order by 1`
}

/** Returns the largest groups by charge, then by calls. */
export function readTop(
  sql: Sql,
  filter: FigureFilter,
  part: Exclude<Part, 'all'>,
  limit: number,
): Promise<GroupedFigures[]> {
  return sql<GroupedFigures[]>`
    select name, ${sums(sql)} from ${figureRows(sql, filter, part)} group by 1
    order by sum(charged) desc, sum(calls) desc, 1 limit ${limit}`
}

export interface GroupedBucket extends GroupedFigures {
  readonly at: Date
}

/** Returns the figures of `names` over time; those of all other names have the name ''. */
export function readGroupedSeries(
  sql: Sql,
  filter: FigureFilter,
  by: SeriesStep & { readonly part: Exclude<Part, 'all'>; readonly names: readonly string[] },
): Promise<GroupedBucket[]> {
  return sql<GroupedBucket[]>`
    select date_trunc(${by.step}, hour, ${by.timeZone}) as at,
      case when name = any(${by.names as string[]}::text[]) then name else '' end as name,
      ${sums(sql)}
    from ${figureRows(sql, filter, by.part)} group by 1, 2 order by 1, 2`
}

export interface ModelLatencyRow {
  readonly model: string
  readonly bucket: number
  readonly calls: bigint
}

/** Returns the durations of successful calls per model, with the limits of `readLatency`. */
export function readModelLatency(sql: Sql, filter: FigureFilter): Promise<ModelLatencyRow[]> {
  const { accountId, from, to, model } = filter
  const ofModel = { accountId, from, to, model }
  return sql<ModelLatencyRow[]>`
    select model, bucket::int, sum(calls)::bigint as calls
    from (
      select model, hour, bucket, calls from latency_hour
      where account_id = ${accountId} and ${inHours(sql, filter)} ${narrow(sql, ofModel)}
      union all
      select model, hour, latency_bucket(created_at, finished_at), 1
      from ${uncounted(sql, ofModel)}
      where status = 'succeeded' and task_id is null and ${inHours(sql, filter)}) l
    group by 1, 2 order by 1, 2`
}

export interface LatencyRow {
  readonly at: Date
  readonly bucket: number
  readonly calls: bigint
}

/**
 * Returns durations of successful calls, except those of tasks; see latency_bucket. Durations are
 * not counted by key or endpoint: those filters are ignored.
 */
export function readLatency(
  sql: Sql,
  { accountId, from, to, model }: FigureFilter,
  by: SeriesStep,
): Promise<LatencyRow[]> {
  const filter = { accountId, from, to, model }
  return sql<LatencyRow[]>`
    select date_trunc(${by.step}, hour, ${by.timeZone}) as at, bucket::int,
      sum(calls)::bigint as calls
    from (
      select hour, bucket, calls from ${model ? sql`latency_hour` : sql`latency_all`}
      where account_id = ${accountId} and ${inHours(sql, filter)} ${narrow(sql, filter)}
      union all
      select hour, latency_bucket(created_at, finished_at), 1
      from ${uncounted(sql, filter)}
      where status = 'succeeded' and task_id is null and ${inHours(sql, filter)}) l
    group by 1, 2 order by 1, 2`
}
