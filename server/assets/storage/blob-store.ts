/** The rows of content that belongs to nobody: what is being written, and what is to be removed. */
import type { Sql, TransactionSql } from 'postgres'

type AnySql = Sql | TransactionSql

/** Nobody else touches it for that long. */
export async function noteLoose(sql: AnySql, key: string, seconds: number): Promise<void> {
  await sql`
    insert into loose_blob (storage_key, due_at)
    values (${key}, now() + ${seconds}::float8 * interval '1 second')
    on conflict (storage_key) do update set due_at = excluded.due_at`
}

/** Its content is gone. */
export async function forgetLoose(sql: AnySql, key: string): Promise<void> {
  await sql`delete from loose_blob where storage_key = ${key}`
}

/**
 * Its content has an owner from now on. False when there are not `seconds` left until somebody
 * removes it, who may have begun.
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

/** Takes keys that are due and keeps others from them for a while. */
export async function takeLoose(sql: Sql, limit: number, seconds: number): Promise<string[]> {
  const rows = await sql<{ storage_key: string }[]>`
    update loose_blob set due_at = now() + ${seconds}::float8 * interval '1 second'
    where storage_key in (
      select storage_key from loose_blob where due_at <= now()
      order by due_at limit ${limit} for update skip locked)
    returning storage_key`
  return rows.map((row) => row.storage_key)
}
