/** The SQL that lists content with an owner, for backups and their proof. */
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

export interface OwnedContent {
  readonly key: string
  readonly owner: 'file' | 'result' | 'archive'
  /** Id of the owner: of the file, the entry of the library, or the month. */
  readonly id: string
  /** Null for archives. */
  readonly account_id: string | null
  /** Null for the list of an archive, of which only the digest is known. */
  readonly bytes: bigint | null
  /** Null for results stored before digests were recorded. */
  readonly sha256: Buffer | null
}

/** Returns content with an owner whose key is greater than `after`, in order. */
export async function selectOwnedContent(
  sql: Sql,
  { after, limit, accountId }: OwnedPage,
): Promise<readonly OwnedContent[]> {
  const ofAccount = accountId === undefined ? sql`true` : sql`account_id = ${accountId}`
  const archives = accountId === undefined ? sql`true` : sql`false`
  return sql<OwnedContent[]>`
    select storage_key as key, 'file' as owner, id, account_id, bytes, sha256 from file
    where storage_key > ${after} and expires_at > now() and ${ofAccount}
    union all
    select storage_key, 'result', id, account_id, bytes, sha256 from asset
    where storage_key > ${after} and state = 'stored' and ${ofAccount}
    union all
    select storage_key, 'archive', to_char(month, 'YYYY-MM'), null, bytes, sha256
    from archive_object where storage_key > ${after} and ${archives}
    union all
    select manifest_key, 'archive', to_char(month, 'YYYY-MM'), null, null, manifest_sha256
    from archive where manifest_key > ${after} and ${archives}
    order by key limit ${limit}`
}

export interface OwnedPage {
  readonly after: string
  readonly limit: number
  /** Only content of this account. */
  readonly accountId?: string | undefined
}

/** Returns those of the keys that no row names: neither an owner's nor that of loose content. */
export async function selectUnowned(sql: Sql, keys: readonly string[]): Promise<readonly string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from unnest(${keys as string[]}::text[]) as listed (key)
    where not exists (select 1 from file where storage_key = key)
      and not exists (select 1 from asset where storage_key = key)
      and not exists (select 1 from archive_object where storage_key = key)
      and not exists (select 1 from archive where manifest_key = key)
      and not exists (select 1 from loose_blob where storage_key = key)
    order by key`
  return rows.map(({ key }) => key)
}

/** Returns whether content still has its owner: it may be deleted while it is read. */
export async function isStillOwned(sql: Sql, key: string): Promise<boolean> {
  const [row] = await sql`
    select 1 from file where storage_key = ${key} and expires_at > now()
    union all select 1 from asset where storage_key = ${key}
    union all select 1 from archive_object where storage_key = ${key}
    union all select 1 from archive where manifest_key = ${key}`
  return row !== undefined
}
