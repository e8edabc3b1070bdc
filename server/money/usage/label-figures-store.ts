/**
 * Figures of calls by tag and by end user. Those of tags are counted by the background job, for
 * each combination of tags; those of end users are read from the calls, since there are nearly as
 * many of them in an hour as calls. Each statement reads counted and uncounted calls from one
 * snapshot.
 */
import type { Sql } from 'postgres'
import {
  atEdges,
  type BucketFigures,
  type FigureFilter,
  type GroupedBucket,
  type GroupedFigures,
  inDays,
  inHours,
  inSteps,
  narrow,
  type SeriesStep,
  steps,
  sums,
  withRest,
} from './figures-store.ts'

export interface LabelFilter extends FigureFilter {
  readonly tag?: string | undefined
  readonly endUser?: string | undefined
}

/**
 * A grouping of calls: by all tags of a call together, so that groups never overlap, or by its end
 * user. The group of calls without any is ''.
 */
export type LabelPart = 'tags' | 'end_user'

/** A condition on `tags`, which has the tags of calls as one text. */
export function hasTag(sql: Sql, tag: string) {
  return sql`position(${`, ${tag}, `} in ', ' || tags || ', ') > 0`
}

const withTag = (sql: Sql, { tag }: LabelFilter) => (tag ? sql`and ${hasTag(sql, tag)}` : sql``)

const ofOneCall = (sql: Sql) => sql`
  1::bigint as calls, (status in ('failed', 'lost'))::int::bigint as errors,
  (status = 'cancelled')::int::bigint as cancelled, charged`

const tagged = (sql: Sql) => sql`tags, model, key_id, endpoint, calls, errors, cancelled, charged`

function taggedCalls(sql: Sql, filter: LabelFilter) {
  return sql`
    select hour, ${tagged(sql)} from usage_tags
    where account_id = ${filter.accountId} and ${inHours(sql, filter)}
      ${narrow(sql, filter)} ${withTag(sql, filter)}
    union all ${uncountedTagged(sql, filter)}`
}

function uncountedTagged(sql: Sql, filter: LabelFilter) {
  return sql`
    select hour, tags, model, key_id, endpoint, ${ofOneCall(sql)} from (
      select *, usage_slot(created_at) as hour, tag_set(labels) as tags from (
        select * from call
        where finished_at >= (select coalesce(tags_until, '-infinity') from usage_watermark)
        offset 0) c
      where account_id = ${filter.accountId} and labels ? 'tags' ${narrow(sql, filter)}) uncounted
    where tags is not null and ${inHours(sql, filter)} ${withTag(sql, filter)}`
}

/** Selects rows whose sums are those of all calls with tags, while their times are not. */
function tagTotals(sql: Sql, filter: LabelFilter) {
  if (isOfEndUsers(filter)) return callsThemselves(sql, filter)
  const ofAccount = sql`
    account_id = ${filter.accountId} ${narrow(sql, filter)} ${withTag(sql, filter)}`
  return sql`
    select null::timestamptz as hour, ${tagged(sql)} from ${inDays(sql, 'tags_day', filter)}
    where ${ofAccount}
    union all
    select hour, ${tagged(sql)} from ${atEdges(sql, filter)('usage_tags')} where ${ofAccount}
    union all ${uncountedTagged(sql, filter)}`
}

/** In whole quarters of an hour, as counted figures are. */
function inPeriod(sql: Sql, { from, to, endUser }: LabelFilter) {
  return sql`
    created_at >= usage_slot(${from}::timestamptz)
    and created_at < ${to}::timestamptz + interval '15 minutes'
    ${endUser ? sql`and labels ->> 'end_user' = ${endUser}` : sql``}`
}

function callsThemselves(sql: Sql, filter: LabelFilter) {
  return sql`
    select hour, tags, end_user, model, key_id, endpoint, ${ofOneCall(sql)} from (
      select *, usage_slot(created_at) as hour, tag_set(labels) as tags,
        labels ->> 'end_user' as end_user
      from call
      where account_id = ${filter.accountId} and ${inPeriod(sql, filter)} ${narrow(sql, filter)}) c
    where ${inHours(sql, filter)} ${withTag(sql, filter)}`
}

/** Returns true for figures that are read from the calls; `countCalls` returns how many. */
export function isOfEndUsers({ endUser }: LabelFilter, part?: LabelPart): boolean {
  return Boolean(endUser) || part === 'end_user'
}

/** Counts the calls that figures of end users would read, up to a limit. */
export async function countCalls(sql: Sql, filter: LabelFilter, limit: number): Promise<number> {
  const [row] = await sql<{ calls: number }[]>`
    select count(*)::int as calls from (
      select from call
      where account_id = ${filter.accountId} and ${inPeriod(sql, filter)} limit ${limit}) c`
  return row?.calls ?? 0
}

const narrowed = (sql: Sql, filter: LabelFilter) =>
  isOfEndUsers(filter) ? callsThemselves(sql, filter) : taggedCalls(sql, filter)

interface DimensionRow extends GroupedFigures {
  readonly part: 'at' | Dimension
  readonly at: Date | null
}

type Dimension = 'model' | 'key' | 'endpoint'
export type Tops = Readonly<Record<Dimension, readonly GroupedFigures[]>>

/**
 * Returns figures over time and of the largest models, keys and endpoints, of calls with a tag, of
 * an end user, or both.
 */
export async function readNarrowed(
  sql: Sql,
  filter: LabelFilter,
  { step, timeZone, limit }: SeriesStep & { readonly limit: number },
): Promise<{ readonly series: readonly BucketFigures[]; readonly tops: Tops }> {
  const rows = await sql<DimensionRow[]>`
    with steps as materialized (${steps(sql, filter, { step, timeZone })})
    select case grouping(at, model, key_id) when 3 then 'at' when 5 then 'model'
        when 6 then 'key' else 'endpoint' end as part,
      at, coalesce(model, key_id, endpoint, '') as name, ${sums(sql)}
    from ${inSteps(sql, sql`(${narrowed(sql, filter)}) f`)}
    group by grouping sets ((at), (model), (key_id), (endpoint)) having sum(calls) > 0
    order by 1, at, sum(charged) desc, sum(calls) desc, 3`
  const by = Map.groupBy(rows, ({ part }) => part)
  const top = (part: Dimension) => (by.get(part) ?? []).slice(0, limit)
  return {
    series: (by.get('at') ?? []).flatMap(({ at, ...row }) => (at ? [{ ...row, at }] : [])),
    tops: { model: top('model'), key: top('key'), endpoint: top('endpoint') },
  }
}

/** Returns the figures of `names` over time; those of all others have the name ''. */
export function readNarrowedSeries(
  sql: Sql,
  filter: LabelFilter,
  by: SeriesStep & { readonly part: Dimension; readonly names: readonly string[] },
): Promise<GroupedBucket[]> {
  const name = sql(by.part === 'key' ? 'key_id' : by.part)
  return sql<GroupedBucket[]>`
    with steps as materialized (${steps(sql, filter, by)})
    select at,
      case when ${name} = any(${by.names as string[]}::text[]) then ${name} else '' end as name,
      ${sums(sql)}
    from ${inSteps(sql, sql`(${narrowed(sql, filter)}) f`)}
    group by 1, 2 having sum(calls) > 0 order by 1, 2`
}

/** Selects every call of the filter in one group, by time. */
function labelled(sql: Sql, filter: LabelFilter, part: LabelPart) {
  const ofUsers = isOfEndUsers(filter, part)
  const rows = ofUsers ? callsThemselves(sql, filter) : taggedCalls(sql, filter)
  const groups = sql`
    select at, coalesce(${sql(part)}, '') as name, ${sums(sql)}
    from ${inSteps(sql, sql`(${rows}) f`)} group by at, ${sql(part)}`
  if (ofUsers || filter.tag) return groups
  // The figures of calls without a tag are the total minus all others.
  return sql`with named as materialized (${groups}) ${withRest(sql, filter)}`
}

interface LabelBucket extends GroupedFigures {
  /** Null in the row with the sum of a group. */
  readonly at: Date | null
}

/** Returns the largest groups, and the figures of the first `shown` of them and of all others. */
export async function readLabelled(
  sql: Sql,
  filter: LabelFilter,
  by: SeriesStep & { readonly part: LabelPart; readonly limit: number; readonly shown: number },
): Promise<{ readonly top: readonly GroupedFigures[]; readonly series: GroupedBucket[] }> {
  const rows = await sql<LabelBucket[]>`
    with steps as materialized (${steps(sql, filter, by)}),
    buckets as materialized (${labelled(sql, filter, by.part)}), top as materialized (
      select name, ${sums(sql)}, row_number() over (
        order by sum(charged) desc, sum(calls) desc, name) as place
      from buckets where name <> '' group by name
      order by place limit ${by.limit}
    )
    select place, null as at, name, calls, errors, cancelled, charged from top
    union all
    select null, at, coalesce(top.name, ''), sum(b.calls)::bigint, sum(b.errors)::bigint,
      sum(b.cancelled)::bigint, sum(b.charged)::bigint
    from buckets b left join top on top.name = b.name and top.place <= ${by.shown}
    group by at, coalesce(top.name, '') having sum(b.calls) > 0
    order by place, at, name`
  return {
    top: rows.filter(({ at }) => at === null),
    series: rows.flatMap(({ at, ...row }) => (at ? [{ ...row, at }] : [])),
  }
}

/** Returns the largest tags: a call with several counts under each. */
export function readTopTags(
  sql: Sql,
  filter: LabelFilter,
  limit: number,
): Promise<GroupedFigures[]> {
  return sql<GroupedFigures[]>`
    select name, ${sums(sql)} from (
      select tags, ${sums(sql)} from (${tagTotals(sql, filter)}) f
      where tags is not null group by tags having sum(calls) > 0) f
    cross join lateral unnest(string_to_array(tags, ', ')) name
    group by 1 order by sum(charged) desc, sum(calls) desc, 1 limit ${limit}`
}
