/** All accounts with their keys' hashes, in the form of a configuration file. */
import type { Sql, TransactionSql } from 'postgres'
import { formatAmount } from '../../base/lib/money.ts'
import type { FileAccount, FileKey } from './account-file.ts'
import { type ConfiguredKey, selectConfiguredAccounts, selectConfiguredKeys } from './file-store.ts'

/** Returns every account as it is configured. Members with default values are omitted. */
export async function exportAccounts(sql: Sql | TransactionSql): Promise<object[]> {
  const accounts = await selectConfiguredAccounts(sql)
  const keys = Map.groupBy(await selectConfiguredKeys(sql), (key) => key.account_id)
  return accounts.map((account) => showAccountEntry(account, keys.get(account.id) ?? []))
}

function showAccountEntry(
  account: Omit<FileAccount, 'keys'>,
  keys: readonly ConfiguredKey[],
): object {
  return {
    id: account.id,
    name: account.name,
    currency: account.currency,
    ...describeAccount(account),
    ...(keys.length > 0 ? { keys: keys.map(showKeyEntry) } : {}),
  }
}

function showKeyEntry(key: ConfiguredKey): object {
  const { id, hash, display } = key
  return { id, hash, display, ...describeKey(key) }
}

/** Returns the settings of an account that `apply` may change, without default values. */
export function describeAccount(account: Omit<FileAccount, 'keys'>): object {
  const { name, status, limits, stored_bytes_max: bytes, low_balance_at: low } = account
  const { allowed_ips: ips, price_list: list } = account
  return {
    name,
    ...(status === 'active' ? {} : { status }),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    ...(ips.length > 0 ? { allowed_ips: ips } : {}),
    ...(bytes === null ? {} : { stored_bytes_max: bytes }),
    ...(account.keeps_prompts ? {} : { keeps_prompts: false }),
    ...(low === null ? {} : { low_balance_at: formatAmount(low) }),
    ...(list ? { price_list: list } : {}),
  }
}

/** Returns the settings of a key that `apply` may change, without default values. */
export function describeKey(key: FileKey): object {
  const { name, models, limits, spend_limit: spend, expires_at: expires } = key
  const { allowed_ips: ips } = key
  return {
    ...(name === '' ? {} : { name }),
    ...(models === null ? {} : { models }),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    ...(ips.length > 0 ? { allowed_ips: ips } : {}),
    ...(spend === null ? {} : { spend_limit: formatAmount(spend) }),
    ...(expires === null ? {} : { expires_at: expires.toISOString() }),
    ...(key.disabled ? { disabled: true } : {}),
    ...(key.replaced_by === null ? {} : { replaced_by: key.replaced_by }),
    ...(key.tags.length > 0 ? { tags: key.tags } : {}),
    ...(key.allow_tags ? { allow_tags: true } : {}),
    ...(key.required_tags.length > 0 ? { required_tags: key.required_tags } : {}),
    ...(key.cost_in_answers ? { cost_in_answers: true } : {}),
  }
}
