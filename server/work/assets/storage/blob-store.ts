/**
 * The SQL of loose content, which no owner's row refers to: it is being written, or is due for
 * removal.
 */
import type { Sql, TransactionSql } from 'postgres'

type AnySql = Sql | TransactionSql

/** Marks content as loose; no cleaner removes it for `seconds`. */
export async function noteLoose(sql: AnySql, key: string, seconds: number): Promise<void> {
  await sql`
    insert into loose_blob (storage_key, due_at)
    values (${key}, now() + ${seconds}::float8 * interval '1 second')
    on conflict (storage_key) do update set due_at = excluded.due_at`
}

/** Deletes the mark once the content is removed. */
export async function forgetLoose(sql: AnySql, key: string): Promise<void> {
  await sql`delete from loose_blob where storage_key = ${key}`
}

/**
 * Gives content to the owner whose row this transaction writes. False when it is due for removal
 * within `seconds`, since a cleaner may already have begun.
 */
export async function adoptLoose(
  sql: TransactionSql,
  key: string,
  seconds: number,
): Promise<boolean> {
  const adopted = await sql`
    delete from loose_blob
    where storage_key = ${key} and due_at > now() + ${seconds}::float8 * interval '1 second'`
  return adopted.count === 1
}

/** Claims keys that are due for removal, and hides them from other cleaners for `seconds`. */
export async function takeLoose(sql: Sql, limit: number, seconds: number): Promise<string[]> {
  const rows = await sql<{ storage_key: string }[]>`
    update loose_blob set due_at = now() + ${seconds}::float8 * interval '1 second'
    where storage_key in (
      select storage_key from loose_blob where due_at <= now()
      order by due_at limit ${limit} for update skip locked)
    returning storage_key`
  return rows.map((row) => row.storage_key)
}
