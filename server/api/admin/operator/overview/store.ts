/** SQL of figures over all accounts: the hourly figures, and the calls that ended since. */
import type { Sql } from 'postgres'
import {
  atEdges,
  inDays,
  inSteps,
  type SeriesStep,
  steps,
} from '../../../../money/usage/figures-store.ts'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import type { operatorOverviewContract } from './contract.ts'

export interface OverviewSpan {
  readonly from: Date
  readonly to: Date
}

type Totals = SchemaRow<
  (typeof operatorOverviewContract)['GET /operator/overview']['answer']
>['currencies'][number]
export type Sums = Pick<
  Totals,
  'currency' | 'calls' | 'errors' | 'revenue' | 'upstream_cost' | 'uncosted'
>
type Losses = Pick<
  Totals,
  'currency' | 'uncharged' | 'uncharged_count' | 'uncharged_unknown' | 'written_off'
>

const hours = (sql: Sql, { from, to }: OverviewSpan) => sql`
  hour >= usage_slot(${from}::timestamptz) and hour < ${to}`

/** Calls that ended since the last rollup; see figures-store.ts. */
const uncounted = (sql: Sql, { from, to }: OverviewSpan) => sql`(
  select usage_slot(c.created_at) as hour, c.account_id, c.model, c.currency,
    coalesce(c.attempts -> -1 ->> 'channel', '') as channel,
    (c.status in ('failed', 'lost'))::int as errors, c.charged,
    coalesce(c.upstream_cost, 0) as upstream_cost,
    case when c.upstream_cost is null then c.charged else 0 end as uncosted
  from (
    select * from call where finished_at >= (
      select coalesce(counted_until, '-infinity') from usage_watermark)
    offset 0) c
  where c.created_at >= ${from} and c.created_at < ${to}) u`

/** Returns one row per hour, channel, model and currency in the span. */
function byChannel(sql: Sql, span: OverviewSpan) {
  return sql`(
    select hour, channel, model, currency, calls, errors, charged, upstream_cost, uncosted
    from channel_hour where ${hours(sql, span)}
    union all
    select hour, channel, model, currency, 1, errors, charged, upstream_cost, uncosted
    from ${uncounted(sql, span)}) f`
}

/** Returns rows with the sums of those of `byChannel`, most of them of whole days. */
function channelTotals(sql: Sql, span: OverviewSpan) {
  return sql`(
    select channel, model, currency, calls, errors, charged, upstream_cost, uncosted
    from ${inDays(sql, 'channel_day', span)}
    union all
    select channel, model, currency, calls, errors, charged, upstream_cost, uncosted
    from ${atEdges(sql, span)('channel_hour')}
    union all
    select channel, model, currency, 1, errors, charged, upstream_cost, uncosted
    from ${uncounted(sql, span)}) r`
}

/** Returns rows with the sums of each account in the span. */
function accountTotals(sql: Sql, span: OverviewSpan) {
  return sql`(
    select account_id, calls, errors, charged, upstream_cost, uncosted
    from ${inDays(sql, 'usage_day', span)}
    union all
    select a.id, h.calls, h.errors, h.charged, h.upstream_cost, h.uncosted
    from edges_of_days(${span.from}, ${span.to}) e cross join account a
    cross join lateral (
      select * from usage_hour
      where account_id = a.id and hour >= e.since and hour < e.until offset 0) h
    union all
    select account_id, 1, errors, charged, upstream_cost, uncosted from ${uncounted(sql, span)}) r`
}

const sums = (sql: Sql) => sql`
  sum(r.calls)::bigint as calls, sum(r.errors)::bigint as errors,
  sum(r.charged)::bigint as revenue, sum(r.upstream_cost)::bigint as upstream_cost,
  sum(r.uncosted)::bigint as uncosted`

const largestFirst = (sql: Sql) => sql`sum(r.charged) desc, sum(r.calls) desc, 1`

export function readRevenueSeries(sql: Sql, span: OverviewSpan, by: SeriesStep) {
  return sql<(Sums & { at: Date })[]>`
    with steps as materialized (${steps(sql, span, by)})
    select r.at, r.currency, ${sums(sql)} from (
      select * from ${inSteps(sql, byChannel(sql, span))}) r
    group by 1, 2 order by 1, 2`
}

export function readTopAccounts(sql: Sql, span: OverviewSpan) {
  return sql<(Sums & { account_id: string; name: string })[]>`
    select r.account_id, a.name, a.currency, ${sums(sql)}
    from ${accountTotals(sql, span)} join account a on a.id = r.account_id
    group by 1, 2, 3 order by ${largestFirst(sql)} limit 10`
}

export function readTopModels(sql: Sql, span: OverviewSpan) {
  return sql<(Sums & { model: string })[]>`
    select r.model, r.currency, ${sums(sql)} from ${channelTotals(sql, span)}
    group by 1, 2 order by ${largestFirst(sql)} limit 50`
}

/** Groups by the last channel tried; calls that reached no channel are left out. */
export function readTopChannels(sql: Sql, span: OverviewSpan) {
  return sql<(Sums & { channel: string })[]>`
    select r.channel, r.currency, ${sums(sql)} from ${channelTotals(sql, span)}
    where r.channel <> ''
    group by 1, 2 order by ${largestFirst(sql)} limit 50`
}

export function readLosses(sql: Sql, { from, to }: OverviewSpan): Promise<Losses[]> {
  return sql<Losses[]>`
    select currency, sum(uncharged)::bigint as uncharged,
      sum(uncharged_count)::int as uncharged_count,
      sum(uncharged_unknown)::int as uncharged_unknown, sum(written_off)::bigint as written_off
    from (
      select a.currency, coalesce(o.upstream_cost, 0) as uncharged, 1 as uncharged_count,
        (o.upstream_cost is null)::int as uncharged_unknown, 0 as written_off
      from uncharged_cost o join task t on t.id = o.task_id join account a on a.id = t.account_id
      where o.created_at >= ${from} and o.created_at < ${to}
      union all
      select a.currency, 0, 0, 0, c.amount
      from credit c join account a on a.id = c.account_id
      where c.kind = 'forgiveness' and c.created_at >= ${from} and c.created_at < ${to}) l
    group by 1`
}

export async function countActive(sql: Sql, span: OverviewSpan) {
  const [row] = await sql<{ accounts: number; tasks: number }[]>`
    select (select count(distinct r.account_id)::int from ${accountTotals(sql, span)}) as accounts,
      (select count(*)::int from task where due_at is not null) as tasks`
  return row ?? { accounts: 0, tasks: 0 }
}
