/** The statements of the migrator. */
import type { ReservedSql, Sql } from 'postgres'

export interface Migration {
  readonly name: string
  readonly text: string
  readonly sha256: string
}

const MIGRATION_LOCK = 7_214_085_622

/** Runs `work` on one connection that holds the migrators' lock and has no statement time-out. */
export async function withMigrationLock<T>(
  sql: Sql,
  work: (connection: ReservedSql) => Promise<T>,
): Promise<T> {
  const connection = await sql.reserve()
  try {
    await connection`set statement_timeout = 0`
    await connection`select pg_advisory_lock(${MIGRATION_LOCK}::bigint)`
    await connection`
      create table if not exists schema_migration (
        name text primary key,
        sha256 text not null,
        applied_at timestamptz not null default now())`
    return await work(connection)
  } finally {
    await connection`select pg_advisory_unlock(${MIGRATION_LOCK}::bigint)`.catch(() => undefined)
    await connection`reset statement_timeout`.catch(() => undefined)
    connection.release()
  }
}

/** Name to SHA-256 of every migration that was applied. */
export async function readApplied(connection: ReservedSql): Promise<ReadonlyMap<string, string>> {
  const rows = await connection<{ name: string; sha256: string }[]>`
    select name, sha256 from schema_migration order by name`
  return new Map(rows.map((row) => [row.name, row.sha256]))
}

/** One transaction: a crash in the middle leaves nothing of it. */
export async function applyMigration(connection: ReservedSql, migration: Migration): Promise<void> {
  await connection`begin`
  try {
    await connection.unsafe(migration.text)
    await connection`
      insert into schema_migration (name, sha256) values (${migration.name}, ${migration.sha256})`
    await connection`commit`
  } catch (error) {
    await connection`rollback`.catch(() => undefined)
    throw error
  }
}
