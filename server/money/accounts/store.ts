/** Looks up API keys: the only query of every call. */

import type { Sql } from 'postgres'
import type { CallLimits } from '../../base/lib/kinds-and-states.ts'

export interface IdentifiedKeyRow {
  readonly hash: Buffer
  readonly key_id: string
  /** The key to which its limits are counted. */
  readonly counter_key_id: string
  readonly key_limits: CallLimits
  readonly models: string[] | null
  readonly spend_limit: bigint | null
  readonly tags: string[]
  readonly allow_tags: boolean
  readonly required_tags: string[]
  readonly cost_in_answers: boolean
  /** Networks from which it may be used; empty: from everywhere. */
  readonly allowed_ips: string[]
  readonly disabled: boolean
  /** Milliseconds until the key expires, by the database's clock; null if it never does. */
  readonly expires_in_ms: number | null
  readonly account_id: string
  readonly account_limits: CallLimits
  readonly account_allowed_ips: string[]
  readonly status: 'active' | 'suspended'
  readonly currency: string
  readonly price_list: string | null
  /** False for a subject whose member has left, is locked out, or has a role without keys. */
  readonly is_member: boolean
  readonly purpose: 'calls' | 'playground' | 'subject'
}

/** Returns the keys with these hashes, in one query; unknown ones are missing from the result. */
export function findKeys(sql: Sql, hashes: readonly Buffer[]): Promise<IdentifiedKeyRow[]> {
  const texts = hashes.map((hash) => hash.toString('hex'))
  return sql<IdentifiedKeyRow[]>`
    select k.hash, k.id as key_id, coalesce(k.counter_key_id, k.id) as counter_key_id,
      k.limits as key_limits, k.models, k.spend_limit, k.purpose,
      k.tags, k.allow_tags, k.required_tags, k.cost_in_answers, k.allowed_ips,
      a.allowed_ips as account_allowed_ips,
      k.purpose <> 'subject' or k.created_by is null or exists (
        select 1 from membership m join person p on p.id = m.person_id
        where m.person_id = k.created_by and m.account_id = k.account_id
          and p.disabled_at is null
          and (m.role = 'owner' or m.member_role = 'developer')) as is_member,
      k.disabled_at is not null as disabled,
      (extract(epoch from k.expires_at - now()) * 1000)::float8 as expires_in_ms,
      a.id as account_id, a.limits as account_limits, a.status, a.currency,
      coalesce(own.id, a.price_list) as price_list
    from api_key k join account a on a.id = k.account_id
      left join price_list own on own.account_id = a.id and own.status = 'active'
    where k.hash = any(array(select decode(text, 'hex') from unnest(${texts}::text[]) as text))`
}
