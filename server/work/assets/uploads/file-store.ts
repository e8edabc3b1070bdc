/** The SQL of files. Every read is bound to an account or to an unguessable token. */
import type { Sql, TransactionSql } from 'postgres'

export interface FileRow {
  readonly id: string
  readonly account_id: string
  readonly token: string
  readonly storage_key: string
  readonly filename: string
  readonly purpose: string
  readonly content_type: string
  readonly bytes: bigint
  readonly created_at: Date
  readonly expires_at: Date
  readonly request_id: string | null
  /** A call's published upload, not a file of the account: see publish-upload.ts. */
  readonly published: boolean
  /** Null for files created before the column. */
  readonly sha256: Buffer | null
}

export interface NewFile extends Omit<FileRow, 'created_at' | 'expires_at' | 'sha256'> {
  readonly sha256: Buffer
  /** Lifetime from now, by the database's clock. */
  readonly life_seconds: number
  readonly idempotency_key: string | null
}

export async function insertFile(sql: TransactionSql, file: NewFile): Promise<FileRow> {
  const bytes = String(file.bytes)
  const [row] = await sql<FileRow[]>`
    insert into file
      (id, account_id, token, storage_key, filename, purpose, content_type, bytes, expires_at,
        sha256, request_id, idempotency_key, published)
    values (
      ${file.id}, ${file.account_id}, ${file.token}, ${file.storage_key}, ${file.filename},
      ${file.purpose}, ${file.content_type}, ${bytes},
      now() + ${file.life_seconds}::float8 * interval '1 second', ${file.sha256},
      ${file.request_id}, ${file.idempotency_key}, ${file.published}
    ) returning *`
  if (!row) throw new Error('a file that was inserted was not returned')
  return row
}

/** Returns a file of the account. Expired files are never returned, here or below. */
export async function findFile(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<FileRow | undefined> {
  const [row] = await sql<FileRow[]>`
    select * from file
    where id = ${id} and account_id = ${accountId} and not published and expires_at > now()`
  return row
}

/** Returns the file uploaded under a key within the last 24 hours, after which the key is free. */
export async function findFileByKey(
  sql: Sql | TransactionSql,
  accountId: string,
  key: string,
): Promise<FileRow | undefined> {
  const [row] = await sql<FileRow[]>`
    select * from file
    where account_id = ${accountId} and idempotency_key = ${key} and expires_at > now()
      and created_at > now() - interval '24 hours'`
  return row
}

/** Removes a free key from the old file that may still carry it. */
export async function freeUploadKey(
  sql: TransactionSql,
  accountId: string,
  key: string,
): Promise<void> {
  await sql`
    update file set idempotency_key = null
    where account_id = ${accountId} and idempotency_key = ${key}`
}

export async function findFileByToken(sql: Sql, token: string): Promise<FileRow | undefined> {
  const [row] = await sql<FileRow[]>`
    select * from file where token = ${token} and expires_at > now()`
  return row
}

export interface FilePage {
  readonly accountId: string
  readonly limit: number
  readonly newestFirst: boolean
  /** The last file of the previous page. */
  readonly after?: FileRow | undefined
  readonly purpose?: string | undefined
}

export async function listFiles(sql: Sql, page: FilePage): Promise<readonly FileRow[]> {
  const { accountId, limit, newestFirst, after, purpose } = page
  const beyond = newestFirst ? sql`<` : sql`>`
  const order = newestFirst ? sql`desc` : sql`asc`
  // Compared inside the database: its timestamps are finer than a Date's milliseconds.
  const from = after
    ? sql`and (created_at, id) ${beyond} (
        select created_at, id from file
        where id = ${after.id} and account_id = ${accountId})`
    : sql``
  const filter = purpose === undefined ? sql`` : sql`and purpose = ${purpose}`
  return sql<FileRow[]>`
    select * from file
    where account_id = ${accountId} and not published and expires_at > now() ${from} ${filter}
    order by created_at ${order}, id ${order}
    limit ${limit}`
}

/** Deletes a row and returns it, for the removal of its content. */
export async function deleteFile(
  sql: TransactionSql,
  accountId: string,
  id: string,
): Promise<FileRow | undefined> {
  const [row] = await sql<FileRow[]>`
    delete from file where id = ${id} and account_id = ${accountId} returning *`
  return row
}

/**
 * Deletes up to `limit` expired rows and marks their content for removal. Returns their number;
 * concurrent processes skip each other's rows.
 */
export async function deleteExpiredFiles(sql: Sql, limit: number): Promise<number> {
  const deleted = await sql`
    with gone as (
      delete from file where id in (
        select id from file where expires_at <= now()
        order by expires_at limit ${limit} for update skip locked)
      returning storage_key)
    insert into loose_blob (storage_key, due_at) select storage_key, now() from gone`
  return deleted.count
}

/**
 * Deletes what is published for a request, in the transaction that ends its task, and marks the
 * content for removal.
 */
export async function deletePublished(
  sql: TransactionSql,
  task: { readonly account_id: string; readonly request_id: string },
): Promise<void> {
  await sql`
    with gone as (
      delete from file where request_id = ${task.request_id} and account_id = ${task.account_id}
        and published
      returning storage_key)
    insert into loose_blob (storage_key, due_at) select storage_key, now() from gone`
}
