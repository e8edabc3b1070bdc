/** SQL of an account's settings and key names, which many pages of the console need. */
import type { Sql } from 'postgres'

export async function selectAccountCurrency(
  sql: Sql,
  accountId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ currency: string }[]>`
    select currency from account where id = ${accountId}`
  return row?.currency
}

export interface KeyName {
  readonly id: string
  readonly name: string
  readonly display: string
}

/** Returns the display names of these keys, as far as they belong to the account. */
export async function readKeyNames(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KeyName>> {
  const rows = await sql<KeyName[]>`
    select id, name, display from api_key
    where account_id = ${accountId} and id = any(${ids as string[]}::text[])`
  return new Map(rows.map((row) => [row.id, row]))
}

export interface AccountSettingsRow {
  readonly id: string
  readonly name: string
  readonly status: 'active' | 'suspended'
  readonly currency: string
  readonly limits: Readonly<Record<string, number>>
  readonly low_balance_at: bigint | null
  readonly created_at: Date
}

export async function readAccountSettings(
  sql: Sql,
  accountId: string,
): Promise<AccountSettingsRow | undefined> {
  const [row] = await sql<AccountSettingsRow[]>`
    select id, name, status, currency, limits, low_balance_at, created_at
    from account where id = ${accountId}`
  return row
}

/** Absent members stay unchanged. */
export async function updateAccountSettings(
  sql: Sql,
  accountId: string,
  change: { readonly name?: string; readonly lowBalanceAt?: bigint | null },
): Promise<void> {
  const { name, lowBalanceAt } = change
  await sql`
    update account set name = ${name ?? sql`name`},
      low_balance_at = ${
        lowBalanceAt === undefined ? sql`low_balance_at` : (lowBalanceAt?.toString() ?? null)
      }
    where id = ${accountId}`
}
