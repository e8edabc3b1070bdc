/** SQL of the migrator. */
import type { Sql, TransactionSql } from 'postgres'
import { withTransaction } from '../transaction.ts'

export interface Migration {
  readonly name: string
  readonly text: string
  readonly sha256: string
}

const MIGRATION_LOCK = 7_214_085_622

/**
 * Runs `step` in a transaction under the migration lock, without a statement timeout. Retries if a
 * migration loses a deadlock to a running gateway.
 */
export async function withMigrationLock<T>(
  sql: Sql,
  step: (transaction: TransactionSql) => Promise<T>,
): Promise<T> {
  return await withTransaction(sql, async (transaction) => {
    await transaction`set local statement_timeout = 0`
    await transaction`select pg_advisory_xact_lock(${MIGRATION_LOCK}::bigint)`
    await createMigrationTable(transaction)
    return await step(transaction)
  })
}

export async function createMigrationTable(transaction: TransactionSql): Promise<void> {
  await transaction`
    create table if not exists schema_migration (
      name text primary key,
      sha256 text not null,
      applied_at timestamptz not null default now())`
}

/** Returns the applied migrations: name to SHA-256. */
export async function readApplied(
  transaction: TransactionSql,
): Promise<ReadonlyMap<string, string>> {
  const rows = await transaction<{ name: string; sha256: string }[]>`
    select name, sha256 from schema_migration order by name`
  return new Map(rows.map((row) => [row.name, row.sha256]))
}

/** Applies a migration and records it: both are committed, or neither. */
export async function applyMigration(
  transaction: TransactionSql,
  migration: Migration,
): Promise<void> {
  await transaction.unsafe(migration.text)
  await transaction`
    insert into schema_migration (name, sha256) values (${migration.name}, ${migration.sha256})`
}
