/** The SQL that lists content with an owner, for backups. */
import type { Sql } from 'postgres'

/** Returns storage keys greater than `after`, in order. Omits published uploads: they expire. */
export async function selectContentKeys(
  sql: Sql,
  after: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await sql<{ key: string }[]>`
    select storage_key as key from file
    where storage_key > ${after} and not published and expires_at > now()
    union all
    select storage_key from asset where storage_key > ${after}
    union all
    select storage_key from archive_object where storage_key > ${after}
    union all
    select manifest_key from archive where manifest_key > ${after}
    order by key limit ${limit}`
  return rows.map(({ key }) => key)
}
