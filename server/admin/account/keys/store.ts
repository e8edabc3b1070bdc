/** SQL of an account's keys with their usage. */
import type { Sql } from 'postgres'
import type { ApiKeyRow } from '../../../accounts/manage-keys.ts'

export interface UsedKeyRow extends Omit<ApiKeyRow, 'currency'> {
  readonly calls: bigint
  readonly charged: bigint
  readonly last_used_at: Date | null
  readonly creator_name: string | null
}

/** Lists keys, newest first, without those that the console creates for its playground. */
export function listUsedKeys(
  sql: Sql,
  filter: {
    readonly accountId: string
    readonly limit: number
    /** The id of the last key of the previous page. */
    readonly after?: string | undefined
    readonly id?: string
  },
): Promise<UsedKeyRow[]> {
  const { accountId, limit, after, id } = filter
  return sql<UsedKeyRow[]>`
    select k.id, k.account_id, k.name, k.display, k.models, k.limits, k.spend_limit, s.spent,
      s.held, k.expires_at, k.disabled_at, k.replaced_by, k.created_at, k.created_by,
      p.name as creator_name,
      case when k.disabled_at is not null then 'disabled'
        when k.expires_at <= now() then 'expired' else 'active' end as state,
      coalesce(u.calls, 0) as calls, coalesce(u.charged, 0) as charged, u.last_used_at
    from api_key k
    left join key_spend s
      on s.key_id = coalesce(k.counter_key_id, k.id) and k.spend_limit is not null
    left join key_use u on u.key_id = k.id
    left join person p on p.id = k.created_by
    where k.account_id = ${accountId} and k.purpose = 'calls'
      ${id === undefined ? sql`` : sql`and k.id = ${id}`}
      ${
        after === undefined
          ? sql``
          : sql`and (k.created_at, k.id) < (select created_at, id from api_key
              where id = ${after} and account_id = ${accountId})`
      }
    order by k.created_at desc, k.id desc limit ${limit}`
}

export async function findUsedKey(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<UsedKeyRow | undefined> {
  const [row] = await listUsedKeys(sql, { accountId, id, limit: 1 })
  return row
}
