/** The SQL of storage quotas: the bytes an account stores, and its limit. */
import type { Sql, TransactionSql } from 'postgres'

/** Sums an account's files and assets. Expired files and published uploads do not count. */
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

/** Returns the account's own limit, or null where the gateway's default applies. */
export async function readStoredBytesMax(
  sql: Sql | TransactionSql,
  accountId: string,
): Promise<bigint | null> {
  const [row] = await sql<{ stored_bytes_max: bigint | null }[]>`
    select stored_bytes_max from account where id = ${accountId}`
  return row?.stored_bytes_max ?? null
}

/** First key of the advisory lock, an arbitrary constant; the second is the account's hash. */
const LOCK_CLASS = 486_193

/** Serializes writes to an account's storage until the transaction ends. */
export async function lockAccountStorage(sql: TransactionSql, accountId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK_CLASS}::int, hashtext(${accountId}))`
}
