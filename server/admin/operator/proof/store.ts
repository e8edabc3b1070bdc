/**
 * SQL of the books' figures: sums on hold and owed, uncharged calls, reviews and dropped records.
 */
import type { Sql } from 'postgres'

export interface TotalsRow {
  readonly currency: string
  readonly available: bigint
  readonly held: bigint
  readonly debt: bigint
}

/** Balances are a cache of the entries; the audit compares the two. */
export function selectTotals(sql: Sql): Promise<TotalsRow[]> {
  return sql<TotalsRow[]>`
    select currency, sum(available)::bigint as available, sum(held)::bigint as held,
      sum(debt)::bigint as debt
    from balance group by currency order by currency`
}

export interface FlowRow {
  readonly currency: string
  readonly topped_up: bigint
}

export function selectToppedUp(sql: Sql): Promise<FlowRow[]> {
  return sql<FlowRow[]>`
    select b.currency, sum(c.amount)::bigint as topped_up
    from credit c join balance b on b.account_id = c.account_id
    where c.kind <> 'forgiveness' group by b.currency`
}

export interface OpenHoldsRow {
  readonly age: string
  readonly count: number
  readonly amount: bigint
  readonly currency: string
}

export function selectOpenHolds(sql: Sql): Promise<OpenHoldsRow[]> {
  return sql<OpenHoldsRow[]>`
    select age, currency, count(*)::int as count, sum(amount)::bigint as amount from (
      select b.currency, h.amount, case
          when h.created_at > now() - interval '1 minute' then 'under 1 minute'
          when h.created_at > now() - interval '10 minutes' then '1 to 10 minutes'
          when h.created_at > now() - interval '1 hour' then '10 to 60 minutes'
          when h.created_at > now() - interval '1 day' then '1 to 24 hours'
          else 'over 24 hours' end as age,
        h.created_at
      from hold h join balance b on b.account_id = h.account_id where h.state = 'open') o
    group by age, currency order by max(created_at) desc, currency`
}

export interface OldHoldRow {
  readonly request_id: string
  readonly account_id: string
  readonly account_name: string
  readonly model: string
  readonly endpoint: string
  readonly task_id: string | null
  readonly amount: bigint
  readonly currency: string
  readonly created_at: Date
}

/** Returns the oldest open holds: whose they are, and what they wait for. */
export function selectOldestHolds(sql: Sql, limit: number): Promise<OldHoldRow[]> {
  return sql<OldHoldRow[]>`
    select h.request_id, h.account_id, a.name as account_name, h.model, h.endpoint, h.task_id,
      h.amount, b.currency, h.created_at
    from hold h join balance b on b.account_id = h.account_id
      join account a on a.id = h.account_id
    where h.state = 'open' order by h.created_at limit ${limit}`
}

export interface CountsRow {
  readonly oldest_open_hold_at: Date | null
  readonly in_review: number
  readonly lost_calls: number
  readonly uncharged_costs: number
  readonly dropped_deliveries: number
}

export async function selectCounts(sql: Sql): Promise<CountsRow> {
  const [row] = await sql<CountsRow[]>`
    select
      (select min(created_at) from hold where state = 'open') as oldest_open_hold_at,
      (select count(*)::int from call where review) as in_review,
      (select count(*)::int from call
        where status = 'lost' and created_at > now() - interval '30 days') as lost_calls,
      (select count(*)::int from uncharged_cost) as uncharged_costs,
      (select count(*)::int from delivery
        where state = 'dropped' and created_at > now() - interval '30 days') as dropped_deliveries`
  if (!row) throw new Error('no figures')
  return row
}

export interface UnchargedCostRow {
  readonly attempt_id: string
  readonly task_id: string
  readonly channel_id: string
  readonly upstream_model: string
  readonly upstream_id: string | null
  readonly reason: string
  readonly upstream_cost: bigint | null
  readonly created_at: Date
}

export function selectUnchargedCosts(
  sql: Sql,
  filter: { readonly limit: number; readonly after?: string | undefined },
): Promise<UnchargedCostRow[]> {
  const { limit, after = null } = filter
  return sql<UnchargedCostRow[]>`
    select * from uncharged_cost where ${after}::text is null or (created_at, attempt_id) <
      (select p.created_at, p.attempt_id from uncharged_cost p where p.attempt_id = ${after})
    order by created_at desc, attempt_id desc limit ${limit}`
}
