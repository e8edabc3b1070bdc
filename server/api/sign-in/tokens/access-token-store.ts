/** SQL of access tokens. Their rights follow from the person at every use. */
import type { Sql, TransactionSql } from 'postgres'
import { behind } from '../../../base/database/conditions.ts'
import { lockPerson } from '../person-store.ts'
import { hasFactor, type PersonPart, selectMemberships } from '../sessions/session-store.ts'

export type TokenScope = 'read' | 'write'

/**
 * The rights a token still has: the operator's role if the token was created with it, or the
 * memberships whose roles have not changed since.
 */
const roles = (sql: Sql | TransactionSql) => sql`m.role_since <= t.created_at`
const hasRights = (sql: Sql | TransactionSql) => sql`
  case when t.is_operator then p.is_operator else exists (
    select 1 from membership m where m.person_id = p.id and ${roles(sql)}) end`

const state = (sql: Sql | TransactionSql) => sql`
  case when t.revoked_at is not null or p.disabled_at is not null or not ${hasRights(sql)}
    then 'revoked'
    when t.expires_at <= now() then 'expired' else 'active' end`

export interface FoundToken extends PersonPart {
  readonly id: string
  readonly token_name: string
  readonly scope: TokenScope
  readonly is_sensitive: boolean
  readonly expires_at: Date | null
  /** True if `used_at` is older than a minute. */
  readonly is_stale: boolean
}

/** Returns the token with its person, if both are valid and it has any rights. */
export async function findToken(sql: Sql, tokenHash: Buffer): Promise<FoundToken | undefined> {
  const [row] = await sql<FoundToken[]>`
    select t.id, t.name as token_name, t.scope, t.is_sensitive, t.expires_at,
      t.person_id, p.email, p.name, p.language, t.is_operator and p.is_operator as is_operator,
      ${hasFactor(sql)} as has_factor, ${selectMemberships(sql, roles(sql))} as memberships,
      t.used_at is null or t.used_at < now() - interval '1 minute' as is_stale
    from access_token t join person p on p.id = t.person_id
    where t.token_hash = ${tokenHash} and ${state(sql)} = 'active'`
  return row
}

export async function touchToken(sql: Sql, id: string): Promise<void> {
  await sql`update access_token set used_at = now() where id = ${id}`
}

export interface TokenRow {
  readonly id: string
  readonly person_id: string
  readonly email: string
  readonly name: string
  readonly display: string
  readonly scope: TokenScope
  readonly is_sensitive: boolean
  readonly created_by: string
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly used_at: Date | null
  readonly state: 'active' | 'expired' | 'revoked'
}

export interface TokenFilter {
  readonly id?: string
  readonly personId?: string
  /** The last id of the previous page. */
  readonly beforeId?: string | undefined
  readonly limit: number
}

/** Lists tokens, newest first. */
export function selectTokens(sql: Sql, filter: TokenFilter): Promise<TokenRow[]> {
  const { id, personId, beforeId, limit } = filter
  return sql<TokenRow[]>`
    select t.id, t.person_id, p.email, t.name, t.display, t.scope, t.is_sensitive, t.created_by,
      t.created_at, t.expires_at, t.used_at, ${state(sql)} as state
    from access_token t join person p on p.id = t.person_id
    where true
      ${id === undefined ? sql`` : sql`and t.id = ${id}`}
      ${personId === undefined ? sql`` : sql`and t.person_id = ${personId}`}
      ${behind(sql, 'access_token', beforeId, { alias: 't' })}
    order by t.created_at desc, t.id desc limit ${limit}`
}

/**
 * Counts a person's valid tokens. Until the transaction ends, nobody else can create a token for
 * them.
 */
export async function countLiveTokens(sql: TransactionSql, personId: string): Promise<number> {
  await lockPerson(sql, personId)
  const [row] = await sql<{ live: number }[]>`
    select count(*)::int as live from access_token t join person p on p.id = t.person_id
    where t.person_id = ${personId} and ${state(sql)} = 'active'`
  return row?.live ?? 0
}

export type NewTokenRow = Pick<
  TokenRow,
  'id' | 'person_id' | 'name' | 'display' | 'scope' | 'is_sensitive' | 'created_by' | 'expires_at'
> & { readonly tokenHash: Buffer }

/** Returns false if the person is disabled, or has neither the operator's role nor a membership. */
export async function insertToken(sql: TransactionSql, token: NewTokenRow): Promise<boolean> {
  const inserted = await sql`
    insert into access_token (id, person_id, name, token_hash, display, scope, is_sensitive,
      is_operator, created_by, expires_at)
    select ${token.id}, p.id, ${token.name}, ${token.tokenHash}, ${token.display}, ${token.scope},
      ${token.is_sensitive}, p.is_operator, ${token.created_by}, ${token.expires_at}
    from person p
    where p.id = ${token.person_id} and p.disabled_at is null
      and (p.is_operator or exists (select 1 from membership m where m.person_id = p.id))`
  return inserted.count > 0
}

/** Returns false if there is no such token, or it is not of the person in `personId`. */
export async function revokeToken(sql: Sql, id: string, personId?: string): Promise<boolean> {
  const revoked = await sql`
    update access_token set revoked_at = coalesce(revoked_at, now())
    where id = ${id} ${personId === undefined ? sql`` : sql`and person_id = ${personId}`}`
  return revoked.count > 0
}

export async function revokeTokensOf(sql: TransactionSql, personId: string): Promise<void> {
  await sql`
    update access_token set revoked_at = now()
    where person_id = ${personId} and revoked_at is null`
}
