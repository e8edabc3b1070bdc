/**
 * Sums the records of one channel, and finds the calls that may explain a difference to an invoice.
 */
import type { PendingQuery, Row, TransactionSql } from 'postgres'

export interface ReconcileFilter {
  readonly channel: string
  /** An IANA time zone, in which days are counted. */
  readonly timeZone: string
  /** Days: `from` is included, `to` is not. */
  readonly from: string
  readonly to: string
}

export interface DayRow {
  readonly day: string
  readonly model: string
  readonly currency: string
  readonly calls: bigint
  readonly upstream_cost: bigint
}

/** The start of a day in a time zone. */
const midnight = (sql: TransactionSql, day: string, zone: string) =>
  sql`((${day}::date)::timestamp at time zone ${zone})`

const ofChannel = (sql: TransactionSql, { channel, timeZone, from, to }: ReconcileFilter) => sql`
  c.attempts -> -1 ->> 'channel' = ${channel}
  and c.created_at >= ${midnight(sql, from, timeZone)}
  and c.created_at < ${midnight(sql, to, timeZone)}`

const dayOf = (sql: TransactionSql, zone: string) =>
  sql`to_char(c.created_at at time zone ${zone}, 'YYYY-MM-DD')`

/** Returns calls and their known upstream costs by day and upstream model. */
export async function sumCosts(sql: TransactionSql, filter: ReconcileFilter): Promise<DayRow[]> {
  return await sql<DayRow[]>`
    select ${dayOf(sql, filter.timeZone)} as day, coalesce(c.attempts -> -1 ->> 'upstream_model',
        c.model) as model, coalesce(k.currency, c.currency) as currency, count(*) as calls,
      coalesce(sum(c.upstream_cost), 0)::bigint as upstream_cost
    from call c left join upstream_cost k on k.version = c.upstream_cost_version
    where ${ofChannel(sql, filter)} group by 1, 2, 3 order by 1, 2, 3`
}

export interface UnitRow {
  readonly day: string
  readonly model: string
  readonly unit: string
  readonly quantity: string
}

/** Returns the quantities of all units in the records' lines. */
export async function sumUnits(sql: TransactionSql, filter: ReconcileFilter): Promise<UnitRow[]> {
  return await sql<UnitRow[]>`
    select ${dayOf(sql, filter.timeZone)} as day, coalesce(c.attempts -> -1 ->> 'upstream_model',
        c.model) as model, l ->> 'unit' as unit, sum((l ->> 'quantity')::numeric)::text as quantity
    from call c cross join lateral jsonb_array_elements(c.lines) l
    where ${ofChannel(sql, filter)} and jsonb_typeof(c.lines) = 'array' and l ->> 'unit' is not null
    group by 1, 2, 3`
}

export type CandidateKind =
  | 'unknown_cost'
  | 'uncertain_basis'
  | 'lost'
  | 'cancelled'
  | 'stated_cost'
  | 'after_midnight'
  | 'before_midnight'
  | 'failed_attempt'
  | 'uncharged_cost'

export interface CandidateRow {
  readonly kind: CandidateKind
  /** A request id, or the attempt id of an uncharged cost. */
  readonly id: string
  readonly created_at: Date
  /** The upstream cost; null if unknown. */
  readonly upstream_cost: bigint | null
  /** The number of all candidates of this kind, of which only some are listed. */
  readonly count: bigint
}

/**
 * Returns calls of one day and the given upstream models (null: all) that a vendor may count
 * differently, the most expensive of each kind first. Near midnight means within 10 minutes of
 * either end of the day: `after_midnight` calls belong to this day, `before_midnight` calls to an
 * adjacent one.
 */
export async function findCandidates(
  sql: TransactionSql,
  place: { readonly channel: string; readonly timeZone: string; readonly day: string },
  models: readonly string[] | null,
  limit: number,
): Promise<CandidateRow[]> {
  const { channel, timeZone, day } = place
  const begin = midnight(sql, day, timeZone)
  const end = sql`((${day}::date + 1)::timestamp at time zone ${timeZone})`
  const isModel = (name: PendingQuery<Row[]>) =>
    models === null ? sql`true` : sql`${name} = any (${[...models]})`
  return await sql<CandidateRow[]>`
    with near as materialized (
      select c.request_id as id, c.created_at, c.upstream_cost, c.status, c.basis, c.review,
        c.lines,
        c.created_at >= ${begin} and c.created_at < ${end} as is_in
      from call c
      where c.created_at >= ${begin} - interval '10 minutes'
        and c.created_at < ${end} + interval '10 minutes'
        and c.attempts -> -1 ->> 'channel' = ${channel}
        and ${isModel(sql`coalesce(c.attempts -> -1 ->> 'upstream_model', c.model)`)}
    ), found as (
      select k.kind, n.id, n.created_at, n.upstream_cost from near n cross join lateral (values
        ('unknown_cost', n.is_in and n.upstream_cost is null),
        ('uncertain_basis', n.is_in and (n.review or n.basis in ('estimate', 'partial'))),
        ('lost', n.is_in and n.status = 'lost'),
        ('cancelled', n.is_in and n.status = 'cancelled'),
        ('stated_cost', n.is_in and n.lines @> '[{"unit":"vendor_cost"}]'),
        ('after_midnight', n.is_in and (n.created_at < ${begin} + interval '10 minutes'
          or n.created_at >= ${end} - interval '10 minutes')),
        ('before_midnight', not n.is_in)) as k(kind, is_so)
      where k.is_so
      union all
      select 'failed_attempt', c.request_id, c.created_at, null
      from call c cross join lateral jsonb_array_elements(c.attempts) a
      where c.created_at >= ${begin} and c.created_at < ${end}
        and a ->> 'channel' = ${channel} and a ->> 'outcome' = 'unknown'
        and ${isModel(sql`a ->> 'upstream_model'`)}
      union all
      select 'uncharged_cost', o.attempt_id, o.created_at, o.upstream_cost from uncharged_cost o
      where o.channel_id = ${channel} and o.created_at >= ${begin} and o.created_at < ${end}
        and ${isModel(sql`o.upstream_model`)}
    ), ranked as (
      select f.*, count(*) over (partition by kind) as count,
        row_number() over (partition by kind order by upstream_cost desc nulls last, id) as place
      from found f)
    select kind, id, created_at, upstream_cost, count from ranked where place <= ${limit}
    order by kind, place`
}

/** Returns up to two calls of a day with exactly this upstream cost. */
export async function findByCost(
  sql: TransactionSql,
  place: { readonly channel: string; readonly timeZone: string; readonly day: string },
  nanos: bigint,
): Promise<string[]> {
  const { channel, timeZone, day } = place
  const rows = await sql<{ id: string }[]>`
    select c.request_id as id from call c
    where c.created_at >= ${midnight(sql, day, timeZone)}
      and c.created_at < ((${day}::date + 1)::timestamp at time zone ${timeZone})
      and c.attempts -> -1 ->> 'channel' = ${channel}
      and c.upstream_cost = ${nanos.toString()}::bigint
    order by 1 limit 2`
  return rows.map(({ id }) => id)
}

/** Returns the archived months and weeks (by their Monday) that have a part of a period. */
export async function findArchivedPeriods(
  sql: TransactionSql,
  { timeZone, from, to }: Omit<ReconcileFilter, 'channel'>,
): Promise<{ readonly kind: 'month' | 'week'; readonly name: string }[]> {
  return await sql<{ kind: 'month' | 'week'; name: string }[]>`
    select case when until is null then 'month' else 'week' end as kind,
      to_char(month, case when until is null then 'YYYY-MM' else 'YYYY-MM-DD' end) as name
    from archive
    where month::timestamp at time zone 'UTC' < ${midnight(sql, to, timeZone)}
      and coalesce(until, month + interval '1 month') at time zone 'UTC'
        > ${midnight(sql, from, timeZone)}
    order by month`
}

export async function channelExists(sql: TransactionSql, channel: string): Promise<boolean> {
  const [row] = await sql`select 1 from channel where id = ${channel}`
  return row !== undefined
}
