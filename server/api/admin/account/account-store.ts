/** SQL of an account's currency and key names, which many pages of the console need. */
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
  /** The person who created the key; empty if unknown. */
  readonly member: string
}

/** Returns the ids of the keys that a person created for the account. */
export async function selectKeysOfMember(
  sql: Sql,
  accountId: string,
  userId: string,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from api_key where account_id = ${accountId} and created_by = ${userId}`
  return rows.map(({ id }) => id)
}

/** Returns the display names of these keys, as far as they belong to the account. */
export async function readKeyNames(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KeyName>> {
  const rows = await sql<KeyName[]>`
    select k.id, k.name, k.display, coalesce(p.name, '') as member
    from api_key k left join person p on p.id = k.created_by
    where k.account_id = ${accountId} and k.id = any(${ids as string[]}::text[])`
  return new Map(rows.map((row) => [row.id, row]))
}
