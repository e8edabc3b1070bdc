/** SQL of accounts and keys as configuration files describe them. */
import type { Sql, TransactionSql } from 'postgres'
import type { FileAccount, FileKey } from './account-file.ts'

export type ConfiguredAccount = Omit<FileAccount, 'keys'>
export type ConfiguredKey = FileKey & {
  readonly account_id: string
  /** Disabled because the person to whom it belongs has left: no file enables it again. */
  readonly is_ended: boolean
}

export function selectConfiguredAccounts(sql: Sql | TransactionSql): Promise<ConfiguredAccount[]> {
  return sql<ConfiguredAccount[]>`
    select id, name, currency, status, limits, stored_bytes_max::float8 as stored_bytes_max,
      keeps_prompts, low_balance_at, allowed_ips, price_list
    from account order by id`
}

/** Lists keys except those of the playground, which live for an hour. */
export function selectConfiguredKeys(sql: Sql | TransactionSql): Promise<ConfiguredKey[]> {
  return sql<ConfiguredKey[]>`
    select id, account_id, name, encode(hash, 'hex') as hash, display, models, limits,
      spend_limit, expires_at, disabled_at is not null as disabled, replaced_by,
      disabled_at is not null and person_id is not null and not exists (
        select 1 from membership m join person p on p.id = m.person_id
        where m.person_id = api_key.person_id and m.account_id = api_key.account_id
          and p.disabled_at is null and (m.role = 'owner' or m.member_role = 'developer')
      ) as is_ended,
      tags, allow_tags, required_tags, cost_in_answers, allowed_ips
    from api_key where purpose = 'calls' order by id`
}

export async function saveAccountColumns(
  sql: TransactionSql,
  account: ConfiguredAccount,
): Promise<void> {
  await sql`
    update account set name = ${account.name}, status = ${account.status},
      limits = ${JSON.stringify(account.limits)}::text::jsonb,
      stored_bytes_max = ${account.stored_bytes_max}::bigint,
      keeps_prompts = ${account.keeps_prompts}, allowed_ips = ${account.allowed_ips},
      low_balance_at = ${account.low_balance_at?.toString() ?? null}::bigint
    where id = ${account.id}`
}

export async function saveReplacement(
  sql: TransactionSql,
  id: string,
  replacedBy: string,
): Promise<void> {
  await sql`update api_key set replaced_by = ${replacedBy} where id = ${id}`
}

export async function saveDisabled(sql: TransactionSql, id: string, isDisabled: boolean) {
  await sql`
    update api_key set disabled_at = ${isDisabled ? sql`coalesce(disabled_at, now())` : null}
    where id = ${id}`
}
