/** SQL of operators' lists of accounts and credits. */
import type { Sql } from 'postgres'
import type { CallLimits } from '../../../accounts/accounts.ts'

export interface AccountListRow {
  readonly id: string
  readonly name: string
  readonly status: 'active' | 'suspended'
  readonly currency: string
  readonly limits: CallLimits
  readonly created_at: Date
  readonly available: bigint
  readonly held: bigint
  readonly debt: bigint
  readonly keys: number
}

export interface AccountListFilter {
  readonly limit: number
  readonly after?: string | undefined
  readonly search?: string | undefined
  readonly status?: string | undefined
  readonly inDebt?: boolean | undefined
}

/** Lists accounts, newest first. Wildcards in the search text are escaped. */
export function selectAccountPage(sql: Sql, filter: AccountListFilter): Promise<AccountListRow[]> {
  const { limit, after = null, search = null, status = null, inDebt } = filter
  const pattern = search === null ? null : `%${search.replace(/[\\%_]/g, '\\$&')}%`
  return sql<AccountListRow[]>`
    select a.id, a.name, a.status, a.currency, a.limits, a.created_at,
      b.available, b.held, b.debt,
      (select count(*)::int from api_key k where k.account_id = a.id) as keys
    from account a join balance b on b.account_id = a.id
    where (${status}::text is null or a.status = ${status})
      and (${pattern}::text is null or a.name ilike ${pattern} or a.id ilike ${pattern})
      ${inDebt === undefined ? sql`` : inDebt ? sql`and b.debt > 0` : sql`and b.debt = 0`}
      and (${after}::text is null or (a.created_at, a.id) <
        (select p.created_at, p.id from account p where p.id = ${after}))
    order by a.created_at desc, a.id desc limit ${limit}`
}

export interface CreditRow {
  readonly id: string
  readonly kind: 'top_up' | 'promotion' | 'adjustment' | 'forgiveness'
  readonly amount: bigint
  readonly reason: string
  readonly actor: string
  readonly event_id: string | null
  readonly created_at: Date
}

export function selectCredits(
  sql: Sql,
  filter: {
    readonly accountId: string
    readonly limit: number
    readonly after?: string | undefined
  },
): Promise<CreditRow[]> {
  const { accountId, limit, after = null } = filter
  return sql<CreditRow[]>`
    select id, kind, amount, reason, actor, event_id, created_at from credit
    where account_id = ${accountId} and (${after}::text is null or (created_at, id) <
      (select p.created_at, p.id from credit p where p.id = ${after}))
    order by created_at desc, id desc limit ${limit}`
}

export async function renameAccount(sql: Sql, id: string, name: string): Promise<void> {
  await sql`update account set name = ${name} where id = ${id}`
}
