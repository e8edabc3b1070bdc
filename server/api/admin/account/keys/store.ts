/** SQL of an account's keys with their usage. */
import type { Sql } from 'postgres'
import { columnsOf } from '../../../../base/database/columns.ts'
import { behind, mentioning } from '../../../../base/database/conditions.ts'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import { key } from './contract.ts'

/** Lists keys, newest first, without those that the console creates for its playground. */
export function listUsedKeys(
  sql: Sql,
  filter: {
    readonly accountId: string
    readonly limit: number
    /** The id of the last key of the previous page. */
    readonly after?: string | undefined
    readonly id?: string
    readonly search?: string | undefined
  },
): Promise<SchemaRow<typeof key>[]> {
  const { accountId, limit, after, id, search } = filter
  const columns = columnsOf(sql, key.shape, 'k', {
    state: sql`case when k.disabled_at is not null then 'disabled'
      when k.expires_at <= now() then 'expired' else 'active' end`,
    spent: sql`greatest(s.spent, coalesce(u.charged, 0))`,
    held: sql`s.held`,
    calls: sql`coalesce(u.calls, 0)`,
    last_used_at: sql`u.last_used_at`,
    created_by: sql`case when k.created_by is not null
      then json_build_object('user_id', k.created_by, 'name', coalesce(p.name, '')) end`,
    member: sql`case when k.person_id is not null
      then json_build_object('user_id', k.person_id, 'email', coalesce(h.email, ''),
        'name', coalesce(h.name, '')) end`,
  })
  return sql<SchemaRow<typeof key>[]>`
    select ${columns} from api_key k
    left join key_spend s
      on s.key_id = coalesce(k.counter_key_id, k.id) and k.spend_limit is not null
    left join key_use u on u.key_id = k.id and u.account_id = k.account_id
    left join person p on p.id = k.created_by
    left join person h on h.id = k.person_id
    where k.account_id = ${accountId} and k.purpose = 'calls'
      ${id === undefined ? sql`` : sql`and k.id = ${id}`}
      ${mentioning(sql, ['k.name', 'k.id', 'k.display'], search)}
      ${behind(sql, 'api_key', after, { alias: 'k', accountId })}
    order by k.created_at desc, k.id desc limit ${limit}`
}

export async function findUsedKey(sql: Sql, accountId: string, id: string) {
  const [row] = await listUsedKeys(sql, { accountId, id, limit: 1 })
  return row
}
