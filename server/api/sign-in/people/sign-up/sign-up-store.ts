/** SQL of sign-ups: who became a customer without an invitation, and which grant each got. */
import type { Sql, TransactionSql } from 'postgres'
import { behind, containing, equal } from '../../../../base/database/conditions.ts'

export interface SignUpRow {
  readonly id: string
  readonly person_id: string | null
  readonly account_id: string
  readonly email: string
  readonly network: string
  /** Null for a mail with a link. */
  readonly provider_id: string | null
  readonly terms: string | null
  readonly granted: bigint
  readonly currency: string
  readonly state: 'active' | 'stopped'
  readonly created_at: Date
}

export async function insertSignUp(
  sql: TransactionSql,
  row: Omit<SignUpRow, 'state' | 'created_at'> & { readonly mailbox: string },
): Promise<void> {
  await sql`
    insert into sign_up (id, person_id, account_id, email, mailbox, network, provider_id, terms,
      granted, currency)
    values (${row.id}, ${row.person_id}, ${row.account_id}, ${row.email}, ${row.mailbox},
      ${row.network}, ${row.provider_id}, ${row.terms}, ${row.granted.toString()}::bigint,
      ${row.currency})`
}

export interface GivenGrants {
  /** Grants to this mailbox, at any time. */
  readonly is_given: boolean
  /** An operator has stopped a sign-up of this network within the last 30 days. */
  readonly is_stopped: boolean
  /** Grants to this network within the last 24 hours. */
  readonly of_network: number
  /** All grants within the last 24 hours. */
  readonly of_day: number
}

/** First key of an advisory lock, an arbitrary constant. */
const GRANT_LOCK = 7108143

/**
 * Returns the grants that were given. Until the transaction ends no other transaction reads them,
 * so that each of several concurrent sign-ups sees the grants of those before it.
 */
export async function lockGrants(
  sql: TransactionSql,
  { mailbox, network }: { readonly mailbox: string; readonly network: string },
): Promise<GivenGrants> {
  await sql`select pg_advisory_xact_lock(${GRANT_LOCK}::bigint)`
  const [row] = await sql<GivenGrants[]>`
    select
      exists (select 1 from sign_up where mailbox = ${mailbox} and granted > 0) as is_given,
      exists (
        select 1 from sign_up
        where network = ${network} and stopped_at > now() - interval '30 days'
      ) as is_stopped,
      count(*) filter (where network = ${network})::int as of_network,
      count(*)::int as of_day
    from sign_up where granted > 0 and created_at > now() - interval '1 day'`
  if (!row) throw new Error('the grants cannot be counted')
  return row
}

export interface SignUpFilter {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly search?: string | undefined
  readonly network?: string | undefined
}

const columns = (sql: Sql) => sql`
  id, person_id, account_id, email, network, provider_id, terms, granted, currency, created_at,
  case when stopped_at is null then 'active' else 'stopped' end as state`

/** Lists sign-ups, newest first. */
export function selectSignUps(sql: Sql, filter: SignUpFilter): Promise<SignUpRow[]> {
  const { search = '', network, cursor, limit } = filter
  const found = containing(search)
  return sql<SignUpRow[]>`
    select ${columns(sql)} from sign_up
    where true ${equal(sql, { network })}
      ${search === '' ? sql`` : sql`and (email ilike ${found} or account_id ilike ${found})`}
      ${behind(sql, 'sign_up', cursor)}
    order by created_at desc, id desc limit ${limit}`
}

/** Returns the sign-ups that may be stopped: one, or those of a network; never an operator's. */
export function selectStoppable(
  sql: Sql,
  by: { readonly id: string } | { readonly network: string },
): Promise<Pick<SignUpRow, 'id' | 'person_id' | 'account_id'>[]> {
  return sql<SignUpRow[]>`
    select s.id, s.person_id, s.account_id
    from sign_up s left join person p on p.id = s.person_id
    where ${'id' in by ? sql`s.id = ${by.id}` : sql`s.network = ${by.network}`}
      and s.stopped_at is null and not coalesce(p.is_operator, false)
    order by s.created_at desc limit 1000`
}

export async function markStopped(sql: Sql, id: string): Promise<void> {
  await sql`update sign_up set stopped_at = now() where id = ${id} and stopped_at is null`
}
