/** The few facts of an account that many pages of the console need. */
import type { Sql } from 'postgres'

export async function readCurrency(sql: Sql, accountId: string): Promise<string | undefined> {
  const [row] = await sql<{ currency: string }[]>`
    select currency from account where id = ${accountId}`
  return row?.currency
}

export interface KeyName {
  readonly id: string
  readonly name: string
  readonly display: string
}

/** How people know these keys; of this account only. */
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
