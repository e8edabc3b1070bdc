/** SQL of API keys for operators. Only the hash of a key is stored. */

import type { Sql, TransactionSql } from 'postgres'
import type { CallLimits } from '../../base/lib/kinds-and-states.ts'

/** The tags that a key adds to its calls, and what it requires of the calls and their answers. */
export interface KeyLabels {
  readonly tags: string[]
  readonly allow_tags: boolean
  readonly required_tags: string[]
  readonly cost_in_answers: boolean
}

export interface ApiKeyRow extends KeyLabels {
  readonly id: string
  readonly account_id: string
  readonly name: string
  readonly display: string
  readonly models: string[] | null
  /** Networks from which it may be used; empty: from everywhere. */
  readonly allowed_ips: string[]
  readonly limits: CallLimits
  readonly spend_limit: bigint | null
  /**
   * The sums charged and held by this key and by the keys it was rotated from and to; null without
   * a spend limit.
   */
  readonly spent: bigint | null
  readonly held: bigint | null
  readonly expires_at: Date | null
  readonly disabled_at: Date | null
  readonly replaced_by: string | null
  readonly created_at: Date
  /**
   * The person to whom its usage is counted: its creator in the console, or the person it belongs
   * to.
   */
  readonly created_by: string | null
  /** The person to whom it belongs, with whose membership it ends; null for the account's own. */
  readonly person_id: string | null
  /** Determined by the database's clock. */
  readonly state: 'active' | 'disabled' | 'expired'
  /** The currency of its account. */
  readonly currency: string
}

export type KeyColumns = Pick<
  ApiKeyRow,
  | ('id' | 'account_id' | 'name' | 'display' | 'models' | 'limits' | 'spend_limit' | 'expires_at')
  | ('created_by' | 'person_id' | 'allowed_ips')
  | keyof KeyLabels
>

export async function accountExists(sql: Sql | TransactionSql, id: string): Promise<boolean> {
  const found = await sql`select 1 from account where id = ${id}`
  return found.length > 0
}

export async function insertKey(
  sql: Sql | TransactionSql,
  key: KeyColumns & { readonly hash: Buffer },
): Promise<void> {
  await sql`
    insert into api_key (id, account_id, name, hash, display, models, limits, spend_limit,
      expires_at, created_by, person_id, tags, allow_tags, required_tags, cost_in_answers,
      allowed_ips)
    values (${key.id}, ${key.account_id}, ${key.name}, ${key.hash}, ${key.display},
      ${key.models}, ${JSON.stringify(key.limits)}::text::jsonb,
      ${key.spend_limit?.toString() ?? null}, ${key.expires_at}, ${key.created_by},
      ${key.person_id}, ${key.tags}, ${key.allow_tags}, ${key.required_tags},
      ${key.cost_in_answers}, ${key.allowed_ips})`
}

/** Lists an account's keys, oldest first, or the one with this id. */
export function selectKeys(
  sql: Sql | TransactionSql,
  filter: { readonly accountId?: string; readonly id?: string },
): Promise<ApiKeyRow[]> {
  return sql<ApiKeyRow[]>`
    select k.id, k.account_id, k.name, k.display, k.models, k.limits, k.spend_limit,
      a.currency, s.spent, s.held, k.expires_at, k.disabled_at, k.replaced_by, k.created_at,
      k.created_by, k.person_id, k.tags, k.allow_tags, k.required_tags, k.cost_in_answers,
      k.allowed_ips,
      case when k.disabled_at is not null then 'disabled'
        when k.expires_at <= now() then 'expired' else 'active' end as state
    from api_key k join account a on a.id = k.account_id
    left join key_spend s
      on s.key_id = coalesce(k.counter_key_id, k.id) and k.spend_limit is not null
    where true
      ${filter.accountId === undefined ? sql`` : sql`and k.account_id = ${filter.accountId}`}
      ${filter.id === undefined ? sql`and k.purpose <> 'subject'` : sql`and k.id = ${filter.id}`}
    order by k.created_at, k.id`
}

/**
 * Locks a key and all keys it was rotated from and to until the transaction ends. Returns the first
 * of them, whose id counts their spend, or the given id if the key does not exist. Not `for
 * update`: the ledger, which may hold the balance lock needed next, must still be able to reference
 * the key.
 */
export async function lockRotation(sql: TransactionSql, id: string): Promise<string> {
  const [row] = await sql<{ first: string }[]>`
    select coalesce(counter_key_id, id) as first from api_key where id = ${id}`
  const first = row?.first ?? id
  await sql`select 1 from api_key where id = ${first} for no key update`
  return first
}

export async function updateKey(
  sql: TransactionSql,
  key: Pick<KeyColumns, 'id' | 'name' | 'models' | 'limits' | 'expires_at' | 'created_by'> &
    Pick<KeyColumns, 'person_id' | 'allowed_ips' | keyof KeyLabels>,
): Promise<void> {
  await sql`
    update api_key set name = ${key.name}, models = ${key.models},
      limits = ${JSON.stringify(key.limits)}::text::jsonb, expires_at = ${key.expires_at},
      created_by = ${key.created_by}, person_id = ${key.person_id}, tags = ${key.tags},
      allow_tags = ${key.allow_tags}, required_tags = ${key.required_tags},
      cost_in_answers = ${key.cost_in_answers}, allowed_ips = ${key.allowed_ips}
    where id = ${key.id}`
}

/** Sets the spend limit of `first` and of all keys rotated from it. */
export async function updateSpendLimit(
  sql: TransactionSql,
  first: string,
  limit: bigint | null,
): Promise<void> {
  await sql`
    update api_key set spend_limit = ${limit?.toString() ?? null}
    where id = ${first} or counter_key_id = ${first}`
}

/** Returns false if the key does not exist. */
export async function updateKeyDisabled(
  sql: TransactionSql,
  id: string,
  disabled: boolean,
): Promise<boolean> {
  const updated = await sql`
    update api_key set disabled_at = ${disabled ? sql`coalesce(disabled_at, now())` : null}
    where id = ${id}`
  return updated.count > 0
}

/**
 * Marks the old key of a rotation: it stays valid for the overlap, unless it expires earlier. The
 * database links the new key to its spend counter.
 */
export async function retireKey(
  sql: TransactionSql,
  old: { readonly id: string; readonly replacedBy: string; readonly overlapSeconds: number },
): Promise<void> {
  await sql`
    update api_key set replaced_by = ${old.replacedBy}, expires_at = least(expires_at,
      now() + make_interval(secs => ${old.overlapSeconds}))
    where id = ${old.id}`
}

/**
 * Starts the spend counter of a key and its rotations with all their past charges and open holds.
 * Locks the balance first, as the ledger does, so that no hold or settlement of the account is
 * missed.
 */
export async function startSpend(
  sql: TransactionSql,
  key: { readonly first: string; readonly accountId: string },
): Promise<void> {
  const { first, accountId } = key
  const rotated = sql`(select id from api_key where id = ${first} or counter_key_id = ${first})`
  await sql`select 1 from balance where account_id = ${accountId} for update`
  await sql`
    insert into key_spend (key_id, held, spent)
    select ${first},
      coalesce((select sum(amount) from hold where account_id = ${accountId}
        and key_id in ${rotated} and state = 'open'), 0),
      coalesce((select sum(charged) from call where account_id = ${accountId}
        and key_id in ${rotated}), 0)
        + coalesce((select sum(charged) from archived_key where account_id = ${accountId}
          and key_id in ${rotated}), 0)
    on conflict (key_id) do update set held = excluded.held, spent = excluded.spent`
  await sql`
    update hold set spend_limited = true where account_id = ${accountId}
      and key_id in ${rotated} and state = 'open' and not spend_limited`
}
