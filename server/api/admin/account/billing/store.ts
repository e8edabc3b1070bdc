/**
 * SQL of the ledger page. The running balance starts from the current one and is worked out
 * backwards, over the rows of each page.
 */
import type { Sql } from 'postgres'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import type { movement } from './contract.ts'

/**
 * `position` keeps the full precision of the database, for the cursor. The time of the first read
 * and the account's currency are the same for all rows of a page.
 */
export type MovementRow = SchemaRow<typeof movement> & {
  readonly position: string
  readonly read_at: string
  readonly currency: string
}

/** The end of a page. */
export interface LedgerCursor {
  readonly position: string
  readonly id: string
  /** Nano-units before the oldest entry shown. */
  readonly balance: bigint
  /** Entries posted after the first page was read are left out. */
  readonly readAt: string
}

export function listMovements(
  sql: Sql,
  page: {
    readonly accountId: string
    readonly limit: number
    readonly after?: LedgerCursor | undefined
  },
): Promise<MovementRow[]> {
  const { accountId, limit, after } = page
  const beyond = (id: 'request_id' | 'id') =>
    after
      ? sql`and (created_at, ${sql(id)}) < (${after.position}::timestamptz, ${after.id})`
      : sql``
  const upToFirstRead = (time: 'finished_at' | 'created_at') =>
    after ? sql`and ${sql(time)} <= ${after.readAt}::timestamptz` : sql``
  const anchor = after
    ? sql`${after.balance.toString()}::bigint`
    : sql`(b.available + b.held - b.debt)`
  return sql<MovementRow[]>`
    select m.*, m.at::text as position, ${after?.readAt ?? sql`now()::text`} as read_at, b.currency,
      (${anchor} - coalesce(sum(m.amount) over (order by m.at desc, m.id desc
        rows between unbounded preceding and 1 preceding), 0))::bigint as balance_after
    from balance b cross join lateral (
      (select request_id as id, created_at as at, 'charge' as kind, -charged as amount, model,
        endpoint, task_id, null as reason
      from call
      where account_id = b.account_id ${beyond('request_id')} ${upToFirstRead('finished_at')}
      order by created_at desc, request_id desc limit ${limit})
      union all
      (select * from (
        select 'archive_' || n.name as id,
          (coalesce(r.until, s.month + interval '1 month') - interval '1 microsecond')
            at time zone 'UTC' as created_at,
          'charge', -sum(case when source = 'revenue' then -amount else amount end)::bigint,
          null, null, null, 'all archived calls of ' || n.title
        from archived_sum s join archive r on r.month = s.month cross join lateral (
          select to_char(s.month, 'YYYY-MM') as name, to_char(s.month, 'YYYY-MM') as title
          where r.until is null
          union all
          select to_char(s.month, 'YYYY-MM-DD'), 'the week of ' || to_char(s.month, 'YYYY-MM-DD')
          where r.until is not null) n
        where s.account_id = b.account_id and 'revenue' in (source, destination)
        group by s.month, r.until, n.name, n.title) a
      where true ${beyond('id')})
      union all
      (select id, created_at, kind, amount, null, null, null, reason
      from credit where account_id = b.account_id ${beyond('id')} ${upToFirstRead('created_at')}
      order by created_at desc, id desc limit ${limit})
      order by at desc, id desc limit ${limit}) m
    where b.account_id = ${accountId}
    order by m.at desc, m.id desc`
}
