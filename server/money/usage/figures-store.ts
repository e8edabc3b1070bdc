/**
 * Figures of an account's calls: those counted by the background job plus the calls that ended
 * since. One statement reads both from one snapshot, so no call is missing or counted twice. The
 * column `hour` has the quarter of an hour, so that the days of every time zone are exact. Sums
 * over the whole period read days of UTC, and quarters only at its edges.
 */
import type { PendingQuery, Row, Sql } from 'postgres'

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

export function inHours(sql: Sql, { from, to }: Period) {
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

/** Names the column of a dimension; the one group of all calls is ''. */
const nameOf = (sql: Sql, part: Part) => (part === 'all' ? sql`''` : sql(COLUMNS[part]))

const measures = (sql: Sql) => sql`calls, errors, cancelled, charged`

/** Returns the only dimension of the filter, with the names wanted of it. */
function onlyDimension({ model, endpoint, keyIds }: FigureFilter) {
  const [only, ...others] = [
    ...(model ? [{ part: 'model' as const, names: [model] }] : []),
    ...(endpoint ? [{ part: 'endpoint' as const, names: [endpoint] }] : []),
    ...(keyIds ? [{ part: 'key' as const, names: keyIds }] : []),
  ]
  return others.length > 0 ? undefined : (only ?? { part: 'all' as const, names: [''] })
}

/**
 * Selects counted figures: by one dimension where that is enough, or from all of them. `hours`
 * joins the table with the hours that are wanted.
 */
function counted(sql: Sql, filter: FigureFilter, part: Part, hours = ofPeriod(sql, filter)) {
  const { accountId } = filter
  const only = onlyDimension(filter)
  const isAll = only?.part === 'all'
  if (only && (isAll || part === 'all' || part === only.part)) {
    return sql`
      select hour, ${part === 'all' ? sql`''` : sql`name`} as name, ${measures(sql)}
      from ${hours('usage_part')}
      where account_id = ${accountId} and part = ${isAll ? part : only.part}
        ${isAll ? sql`` : sql`and name = any(${only.names as string[]}::text[])`}`
  }
  return sql`
    select hour, ${nameOf(sql, part)} as name, ${measures(sql)} from ${hours('usage_hour')}
    where account_id = ${accountId} ${narrow(sql, filter)}`
}

type HourTable = 'usage_part' | 'usage_hour' | 'latency_hour' | 'usage_tags' | 'channel_hour'
type DayTable = 'usage_day' | 'latency_day' | 'tags_day' | 'channel_day'
type Period = Pick<FigureFilter, 'from' | 'to'>

function ofPeriod(sql: Sql, filter: FigureFilter) {
  return (table: HourTable) => sql`
    (select usage_slot(${filter.from}) as since, ${filter.to}::timestamptz as until) e
    join ${sql(table)} on hour >= e.since and hour < e.until`
}

/** The rows outside of the days that are added up. */
export function atEdges(sql: Sql, { from, to }: Period) {
  return (table: HourTable) => sql`
    edges_of_days(${from}, ${to}) e
    join ${sql(table)} on hour >= e.since and hour < e.until`
}

/** The days that are added up, with the rows of their table. */
export function inDays(sql: Sql, table: DayTable, { from, to }: Period) {
  return sql`
    added_days(${from}, ${to}) d
    join ${sql(table)} on day >= d.since and day < d.until`
}

function uncountedFigures(sql: Sql, filter: FigureFilter, part: Part) {
  return sql`
    select hour, ${nameOf(sql, part)}, 1::bigint, (status in ('failed', 'lost'))::int::bigint,
      (status = 'cancelled')::int::bigint, charged
    from ${uncounted(sql, filter)} where ${inHours(sql, filter)}`
}

/** Selects figures by time and by the dimension, only of `names` if there are any. */
function figureRows(sql: Sql, filter: FigureFilter, part: Part, names?: readonly string[]) {
  return sql`(
    select * from (
      ${counted(sql, filter, part)}
      union all ${uncountedFigures(sql, filter, part)}) f
    ${names ? sql`where name = any(${names as string[]}::text[])` : sql``}) f`
}

/** Selects rows whose sums are those of `figureRows`, while their times are not. */
function totalRows(sql: Sql, filter: FigureFilter, part: Part) {
  return sql`(
    select null::timestamptz as hour, ${nameOf(sql, part)} as name, ${measures(sql)}
    from ${inDays(sql, 'usage_day', filter)}
    where account_id = ${filter.accountId} ${narrow(sql, filter)}
    union all ${counted(sql, filter, part, atEdges(sql, filter))}
    union all ${uncountedFigures(sql, filter, part)}) f`
}

/**
 * Selects the row of the CTE `steps`: the hours or days of the period, which begin at `starts` and
 * are shown as `ats`.
 * The rules of a zone are applied once for each quarter of an hour: they cost a µs.
 */
export function steps(sql: Sql, { from, to }: Period, { step, timeZone }: SeriesStep) {
  return sql`
    select array_agg(hour order by hour) as starts, array_agg(at order by hour) as ats
    from (
      select hour, at, lag(at) over (order by hour) as before
      from (
        select hour, date_trunc(${step}, hour, ${timeZone}) as at
        from generate_series(usage_slot(${from}), ${to}, interval '15 minutes') hour) h
    ) h where before is distinct from at`
}

/**
 * Rows with the hour or day of their `hour`, beside `steps`. `offset 0` hides that there are fewer
 * steps than hours, or the planner sorts rows that a small hash table adds up.
 */
export const inSteps = (sql: Sql, rows: PendingQuery<Row[]>) => sql`(
  select ats[width_bucket(hour, starts)] as at, f.* from steps, ${rows} offset 0) f`

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
    select name, ${sums(sql)} from ${totalRows(sql, filter, part)} group by 1
    order by sum(charged) desc, sum(calls) desc, 1 limit ${limit}`
}

export interface GroupedBucket extends GroupedFigures {
  readonly at: Date
}

/**
 * Returns the figures of `names` over time; those of all other names, the total minus these, have
 * the name ''.
 */
export function readGroupedSeries(
  sql: Sql,
  filter: FigureFilter,
  by: SeriesStep & { readonly part: Exclude<Part, 'all'>; readonly names: readonly string[] },
): Promise<GroupedBucket[]> {
  return sql<GroupedBucket[]>`
    with steps as materialized (${steps(sql, filter, by)}),
    named as materialized (
      select at, name, ${sums(sql)} from ${inSteps(sql, figureRows(sql, filter, by.part, by.names))}
      group by 1, 2
    )
    ${withRest(sql, filter)}`
}

/**
 * Adds the group '' to the CTE `named`: the total minus all of its groups. Groups may have this
 * name as well.
 */
export function withRest(sql: Sql, filter: FigureFilter) {
  return sql`
    select at, name, ${sums(sql)} from (
      select * from named
      union all select at, '', -calls, -errors, -cancelled, -charged from named
      union all
      select at, '', ${measures(sql)} from ${inSteps(sql, figureRows(sql, filter, 'all'))}) f
    group by 1, 2 having sum(calls) > 0 order by 1, 2`
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
      select model, bucket, calls from ${inDays(sql, 'latency_day', filter)}
      where account_id = ${accountId} ${narrow(sql, ofModel)}
      union all
      select model, bucket, calls from ${atEdges(sql, filter)('latency_hour')}
      where account_id = ${accountId} ${narrow(sql, ofModel)}
      union all
      select model, latency_bucket(created_at, finished_at), 1
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
    with steps as materialized (${steps(sql, filter, by)})
    select at, bucket::int, sum(calls)::bigint as calls
    from ${inSteps(
      sql,
      sql`(
      select hour, bucket, calls from ${model ? sql`latency_hour` : sql`latency_all`}
      where account_id = ${accountId} and ${inHours(sql, filter)} ${narrow(sql, filter)}
      union all
      select hour, latency_bucket(created_at, finished_at), 1
      from ${uncounted(sql, filter)}
      where status = 'succeeded' and task_id is null and ${inHours(sql, filter)}) f`,
    )}
    group by 1, 2 order by 1, 2`
}
