/**
 * Movements of money with a running balance, page by page: the balance of today is known, and
 * from there each page goes back by its own rows alone.
 */
import type { Sql } from 'postgres'

export interface MovementRow {
  readonly id: string
  /** With all digits of the database, for the cursor. */
  readonly position: string
  readonly at: Date
  readonly kind: 'charge' | 'top_up' | 'promotion' | 'adjustment' | 'forgiveness'
  readonly amount: bigint
  readonly balance_after: bigint
  readonly model: string | null
  readonly endpoint: string | null
  readonly task_id: string | null
  readonly reason: string | null
  /** Of the whole page: when the books were read, and the account's currency. */
  readonly read_at: string
  readonly currency: string
}

/** Where a page ended. */
export interface LedgerCursor {
  readonly position: string
  readonly id: string
  /** Nano-units before the last movement shown. */
  readonly balance: bigint
  /** What was posted after the first page was read is left out. */
  readonly readAt: string
}

export function listMovements(
  sql: Sql,
  page: { readonly accountId: string; readonly limit: number; readonly after?: LedgerCursor },
): Promise<MovementRow[]> {
  const { accountId, limit, after } = page
  const beyond = (id: 'request_id' | 'id') =>
    after
      ? sql`and (created_at, ${sql(id)}) < (${after.position}::timestamptz, ${after.id})`
      : sql``
  const known = (time: 'finished_at' | 'created_at') =>
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
      from call where account_id = b.account_id ${beyond('request_id')} ${known('finished_at')}
      order by created_at desc, request_id desc limit ${limit})
      union all
      (select id, created_at, kind, amount, null, null, null, reason
      from credit where account_id = b.account_id ${beyond('id')} ${known('created_at')}
      order by created_at desc, id desc limit ${limit})
      order by at desc, id desc limit ${limit}) m
    where b.account_id = ${accountId}
    order by m.at desc, m.id desc`
}
