/** SQL of the overview: one statement. */
import type { Sql } from 'postgres'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import type { overviewContract } from './contract.ts'

type Answer = SchemaRow<(typeof overviewContract)['GET /accounts/:account_id/overview']['answer']>

/** `midnight` is the most recent midnight in the time zone, and `yesterday` the one before it. */
export type OverviewRow = Pick<Answer, 'currency'> &
  Record<'now' | 'midnight' | 'yesterday', Date> & {
    readonly low_balance_at: bigint | null
  } & Answer['balance'] &
  Answer['tasks'] &
  Answer['deliveries'] &
  Answer['first_steps']

/** Open tasks and waiting deliveries are found by partial indexes. */
export async function readOverview(
  sql: Sql,
  accountId: string,
  timeZone: string,
): Promise<OverviewRow | undefined> {
  const [row] = await sql<OverviewRow[]>`
    select b.currency, b.available, b.held, b.debt, a.low_balance_at, now() as now,
      date_trunc('day', now(), ${timeZone}) as midnight,
      -- Days may have 23 or 25 hours.
      date_trunc('day', date_trunc('day', now(), ${timeZone}) - interval '1 hour', ${timeZone})
        as yesterday,
      open.queued, open.processing, sending.pending,
      (select count(*)::int from delivery d where d.account_id = a.id and d.state = 'dropped'
        and d.created_at > now() - interval '7 days') as dropped,
      exists (select 1 from credit c where c.account_id = a.id) as has_credit,
      exists (select 1 from api_key k where k.account_id = a.id and k.purpose = 'calls') as has_key,
      exists (select 1 from call c where c.account_id = a.id)
        or exists (select 1 from archived_key k where k.account_id = a.id) as has_call
    from account a join balance b on b.account_id = a.id
    cross join lateral (
      select count(*) filter (where state <> 'processing')::int as queued,
        count(*) filter (where state = 'processing')::int as processing
      from task t where t.account_id = a.id and t.due_at is not null) open
    cross join lateral (
      select count(*)::int as pending from delivery d
      where d.account_id = a.id and d.state = 'pending') sending
    where a.id = ${accountId}`
  return row
}
