/** SQL of accounts for operators. */

import type { Sql, TransactionSql } from 'postgres'
import { holdIdOf } from '../../base/lib/ids.ts'
import type { CallLimits } from '../../base/lib/kinds-and-states.ts'
import type { Nanos } from '../../base/lib/money.ts'

export interface AccountRow {
  readonly id: string
  readonly name: string
  readonly status: 'active' | 'suspended'
  readonly currency: string
  readonly limits: CallLimits
  /** Networks from which its keys may be used; empty: from everywhere. */
  readonly allowed_ips: string[]
  /** Byte limit for files and media; null for the gateway's default. */
  readonly stored_bytes_max: number | null
  /** True if the gallery stores the prompts of images. */
  readonly keeps_prompts: boolean
  /** Receives a webhook for each alert; null for none. */
  readonly alert_url: string | null
  /** An alert is sent when the balance falls below; null for none. */
  readonly low_balance_at: bigint | null
  readonly created_at: Date
  readonly available: bigint
  readonly held: bigint
  readonly debt: bigint
  readonly keys: number
  /** The account's list; null: the base prices. */
  readonly price_list: string | null
}

/** Creates the account and its empty balance. */
export async function insertAccount(
  sql: TransactionSql,
  account: Pick<AccountRow, 'id' | 'name' | 'currency' | 'limits'>,
): Promise<void> {
  await sql`
    insert into account (id, name, currency, limits)
    values (${account.id}, ${account.name}, ${account.currency},
      ${JSON.stringify(account.limits)}::text::jsonb)`
  await sql`insert into balance (account_id, currency) values (${account.id}, ${account.currency})`
}

export async function postOpeningBalance(
  sql: TransactionSql,
  opening: {
    readonly creditId: string
    readonly accountId: string
    readonly amountNanos: Nanos
    readonly actor: string
  },
): Promise<void> {
  await sql`
    select ledger_credit(${opening.creditId}, ${opening.accountId}, 'top_up',
      ${opening.amountNanos.toString()}::bigint, 'opening balance', ${opening.actor}, null)`
}

/** Lists all accounts, or the one with this id, oldest first. */
export function selectAccounts(
  sql: Sql,
  filter: { readonly id?: string; readonly limit: number },
): Promise<AccountRow[]> {
  return sql<AccountRow[]>`
    select a.id, a.name, a.status, a.currency, a.limits, a.keeps_prompts, a.created_at,
      a.price_list, a.alert_url, a.low_balance_at, a.allowed_ips,
      a.stored_bytes_max::float8 as stored_bytes_max, b.available, b.held, b.debt,
      (select count(*)::int from api_key k where k.account_id = a.id) as keys
    from account a join balance b on b.account_id = a.id
    ${filter.id === undefined ? sql`` : sql`where a.id = ${filter.id}`}
    order by a.created_at, a.id limit ${filter.limit}`
}

/** Returns false if the account does not exist. */
export async function updateStatus(
  sql: Sql,
  id: string,
  status: AccountRow['status'],
): Promise<boolean> {
  const updated = await sql`update account set status = ${status} where id = ${id}`
  return updated.count > 0
}

/** Absent members stay unchanged; null removes the limit. */
export type LimitsChange = { readonly [name in keyof CallLimits]: number | null }

/**
 * Changes some limits, and leaves others to concurrent changes. Returns false if the account does
 * not exist.
 */
export async function updateLimits(sql: Sql, id: string, change: LimitsChange): Promise<boolean> {
  const updated = await sql`
    update account set limits = jsonb_strip_nulls(limits || ${JSON.stringify(change)}::text::jsonb)
    where id = ${id}`
  return updated.count > 0
}

/** Returns false if the account does not exist. */
export async function updateAllowedIps(
  sql: Sql,
  id: string,
  networks: readonly string[],
): Promise<boolean> {
  const updated = await sql`
    update account set allowed_ips = ${[...networks]} where id = ${id}`
  return updated.count > 0
}

/** Absent members stay unchanged. */
export interface MediaChange {
  readonly storedBytesMax?: number | null
  readonly keepsPrompts?: boolean
}

/** Returns false if the account does not exist. */
export async function updateMedia(sql: Sql, id: string, change: MediaChange): Promise<boolean> {
  const { storedBytesMax, keepsPrompts = null } = change
  const updated = await sql`
    update account set keeps_prompts = coalesce(${keepsPrompts}, keeps_prompts),
      stored_bytes_max = case when ${storedBytesMax === undefined} then stored_bytes_max
        else ${storedBytesMax ?? null}::bigint end
    where id = ${id}`
  return updated.count > 0
}

/** Absent members stay unchanged. */
export interface AlertChange {
  readonly alertUrl?: string | null
  readonly lowBalanceAt?: Nanos | null
}

/** Returns false if the account does not exist. */
export async function updateAlerts(sql: Sql, id: string, change: AlertChange): Promise<boolean> {
  const { alertUrl, lowBalanceAt } = change
  const updated = await sql`
    update account set alert_url = ${alertUrl === undefined ? sql`alert_url` : alertUrl},
      low_balance_at = ${
        lowBalanceAt === undefined
          ? sql`low_balance_at`
          : sql`${lowBalanceAt?.toString() ?? null}::bigint`
      }
    where id = ${id}`
  return updated.count > 0
}

/** Returns the account of a request; only for operators, who may see all accounts. */
export async function accountOfRequest(sql: Sql, requestId: string): Promise<string | undefined> {
  const [row] = await sql<{ account_id: string }[]>`
    select account_id from hold where id = ${holdIdOf(requestId)}`
  return row?.account_id
}
