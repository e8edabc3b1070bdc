/** SQL of the audit log for operators, newest first. */
import type { Sql } from 'postgres'

export interface AuditLogRow {
  readonly id: bigint
  readonly at: Date
  readonly actor: string | null
  readonly email: string | null
  readonly token: { readonly id: string; readonly name: string; readonly last4: string } | null
  readonly ip: string
  readonly account_id: string | null
  readonly action: string
  readonly target: string
  readonly details: Readonly<Record<string, unknown>>
}

export interface AuditLogFilter {
  readonly limit: number
  readonly after?: string | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly account?: string | undefined
  readonly target?: string | undefined
}

export interface NamedRow {
  readonly id: string
  readonly name: string
  /** Of an account. */
  readonly currency: string | null
}

/** Returns what the ids stand for today; unknown and removed ones are absent. */
export function selectNames(sql: Sql, ids: readonly string[]): Promise<NamedRow[]> {
  const known = sql`any(${[...ids]}::text[])`
  return sql<NamedRow[]>`
    select id, name, currency from account where id = ${known}
    union all
    select id, coalesce(nullif(name, ''), display), null from api_key where id = ${known}
    union all select id, email, null from person where id = ${known}
    union all select id, name, null from access_token where id = ${known}
    union all select id, '…' || display, null from redeem_code where id = ${known}`
}

const escapePattern = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** Wildcards in the texts are escaped. */
export function selectAuditLog(sql: Sql, filter: AuditLogFilter): Promise<AuditLogRow[]> {
  const { limit, after, from, to, actor, action, account, target } = filter
  return sql<AuditLogRow[]>`
    select l.id, l.at, l.actor, p.email,
      case when t.id is not null then
        json_build_object('id', t.id, 'name', t.name, 'last4', right(t.display, 4)) end as token,
      l.ip, l.account_id, l.action, l.target, l.details
    from audit_log l left join person p on p.id = l.actor
      left join access_token t on t.id = l.token_id
    where true
      ${after ? sql`and l.id < ${after}::bigint` : sql``}
      ${from ? sql`and l.at >= ${from}` : sql``}
      ${to ? sql`and l.at < ${to}` : sql``}
      ${account ? sql`and l.account_id = ${account}` : sql``}
      ${
        target
          ? sql`and (l.target = ${target}
        or ${target} = any(string_to_array(l.details->>'models', ', ')))`
          : sql``
      }
      ${action ? sql`and l.action ilike ${escapePattern(action)}` : sql``}
      ${actor ? sql`and (l.actor = ${actor} or p.email ilike ${escapePattern(actor)})` : sql``}
    order by l.id desc limit ${limit}`
}
