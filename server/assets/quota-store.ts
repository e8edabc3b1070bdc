/** What an account keeps in storage, and may keep. */
import type { Sql, TransactionSql } from 'postgres'

/** Files that have expired are as good as gone; what a call lends is not kept. */
export async function sumStoredBytes(
  sql: Sql | TransactionSql,
  accountId: string,
): Promise<bigint> {
  const [row] = await sql<{ total: bigint }[]>`
    select (
      (select coalesce(sum(bytes), 0) from file
        where account_id = ${accountId} and not published and expires_at > now()) +
      (select coalesce(sum(bytes), 0) from asset
        where account_id = ${accountId} and bytes is not null))::bigint as total`
  return row?.total ?? 0n
}

/** The account's own limit, or null for the gateway's. */
export async function readStoredBytesMax(
  sql: Sql | TransactionSql,
  accountId: string,
): Promise<bigint | null> {
  const [row] = await sql<{ stored_bytes_max: bigint | null }[]>`
    select stored_bytes_max from account where id = ${accountId}`
  return row?.stored_bytes_max ?? null
}

/** An arbitrary but fixed number, beside a hash of the account. */
const LOCK_CLASS = 486_193

/** One at a time for an account, until the transaction ends. */
export async function lockAccountStorage(sql: TransactionSql, accountId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK_CLASS}::int, hashtext(${accountId}))`
}
