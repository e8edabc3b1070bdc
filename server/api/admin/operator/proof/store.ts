/**
 * SQL of the books' figures: sums on hold and owed, uncharged calls, reviews and dropped records.
 */
import type { Sql } from 'postgres'
import { columnsOf } from '../../../../base/database/columns.ts'
import { behind } from '../../../../base/database/conditions.ts'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import { type operatorProofContract, unchargedCost } from './contract.ts'

export type Figures = SchemaRow<(typeof operatorProofContract)['GET /operator/proof']['answer']>
type Total = Figures['totals'][number]
type TotalsRow = Omit<Total, 'revenue' | 'topped_up'>
type FlowRow = Pick<Total, 'currency' | 'topped_up'>
type OpenHoldsRow = Figures['open_holds'][number]

/** Balances are a cache of the entries; the audit compares the two. */
export function selectTotals(sql: Sql): Promise<TotalsRow[]> {
  return sql<TotalsRow[]>`
    select currency, sum(available)::bigint as available, sum(held)::bigint as held,
      sum(debt)::bigint as debt
    from balance group by currency order by currency`
}

export function selectToppedUp(sql: Sql): Promise<FlowRow[]> {
  return sql<FlowRow[]>`
    select b.currency, sum(c.amount)::bigint as topped_up
    from credit c join balance b on b.account_id = c.account_id
    where c.kind <> 'forgiveness' group by b.currency`
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

/** Returns the oldest open holds: whose they are, and what they wait for. */
export function selectOldestHolds(sql: Sql, limit: number) {
  return sql<Figures['oldest_holds'][number][]>`
    select h.request_id, h.account_id, a.name as account_name, h.model, h.endpoint, h.task_id,
      h.amount, b.currency, h.created_at
    from hold h join balance b on b.account_id = h.account_id
      join account a on a.id = h.account_id
    where h.state = 'open' order by h.created_at limit ${limit}`
}

type Counts = Omit<
  Figures,
  'totals' | 'open_holds' | 'oldest_holds' | 'command_successes' | `last_${string}` | 'sealed'
>

export async function selectCounts(sql: Sql) {
  const [row] = await sql<Counts[]>`
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

export function selectUnchargedCosts(
  sql: Sql,
  query: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<SchemaRow<typeof unchargedCost>[]> {
  const { limit, cursor } = query
  const columns = columnsOf(sql, unchargedCost.shape, 'u', { channel: sql`u.channel_id` })
  return sql<SchemaRow<typeof unchargedCost>[]>`
    select ${columns} from uncharged_cost u
    where true ${behind(sql, 'uncharged_cost', cursor, { alias: 'u', id: 'attempt_id' })}
    order by u.created_at desc, u.attempt_id desc limit ${limit + 1}`
}
