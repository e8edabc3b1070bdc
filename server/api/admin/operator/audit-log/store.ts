/** SQL of the audit log for operators, newest first. */
import type { Sql } from 'postgres'
import { containing, during, equal } from '../../../../base/database/conditions.ts'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import type { ReadQuery } from '../../route.ts'
import type { operatorAuditLogContract } from './contract.ts'

type Route = (typeof operatorAuditLogContract)['GET /operator/audit-log']
/** An entry without the names of what it mentions. */
export type AuditLogRow = Omit<SchemaRow<Route['answer']>['data'][number], 'names' | 'currency'>

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

/** Wildcards in the texts are escaped. */
export function selectAuditLog(sql: Sql, query: ReadQuery<Route>): Promise<AuditLogRow[]> {
  const { limit, cursor, actor, action, account, target } = query
  return sql<AuditLogRow[]>`
    select l.id, l.at, l.actor as user_id, p.email,
      case when t.id is not null then
        json_build_object('id', t.id, 'name', t.name, 'last4', right(t.display, 4)) end as token,
      nullif(l.ip, '') as ip, l.account_id, l.action, l.target, l.details
    from audit_log l left join person p on p.id = l.actor
      left join access_token t on t.id = l.token_id
    where true
      ${cursor ? sql`and l.id < ${cursor}::bigint` : sql``}
      ${during(sql, 'l.at', query)}
      ${equal(sql, { 'l.account_id': account })}
      ${
        target
          ? sql`and (l.target = ${target}
        or ${target} = any(string_to_array(l.details->>'models', ', ')))`
          : sql``
      }
      ${action ? sql`and l.action ilike ${containing(action)}` : sql``}
      ${actor ? sql`and (l.actor = ${actor} or p.email ilike ${containing(actor)})` : sql``}
    order by l.id desc limit ${limit + 1}`
}
