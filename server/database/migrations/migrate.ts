/** Applies plain SQL migrations, each once, recorded in the same transaction. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql, TransactionSql } from 'postgres'
import { DatabaseProblem } from '../problem.ts'
import {
  applyMigration,
  type Migration,
  readApplied,
  withMigrationLock,
} from './migration-store.ts'

const FILE_NAME = /^\d{4}-[a-z0-9-]+\.sql$/

/** Returns the migrations in a folder, ordered by number. */
export function readMigrations(folder: string): Migration[] {
  return readdirSync(folder)
    .filter((name) => FILE_NAME.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      return { name, text, sha256: createHash('sha256').update(text).digest('hex') }
    })
}

/**
 * Applies all missing migrations. Concurrent migrators are safe: each step takes a lock and checks
 * again. Throws if an applied file has changed or the database is newer than the code. Returns the
 * names of the migrations it applied.
 */
export async function migrate(sql: Sql, folder: string): Promise<readonly string[]> {
  const migrations = readMigrations(folder)
  const names: string[] = []
  for (;;) {
    const name = await withMigrationLock(sql, (transaction) => applyNext(transaction, migrations))
    if (name === undefined) return names
    names.push(name)
  }
}

async function applyNext(
  transaction: TransactionSql,
  migrations: readonly Migration[],
): Promise<string | undefined> {
  const applied = await readApplied(transaction)
  refuseDifferences(migrations, applied)
  const next = migrations.find((migration) => !applied.has(migration.name))
  if (next) await applyMigration(transaction, next)
  return next?.name
}

function refuseDifferences(
  migrations: readonly Migration[],
  applied: ReadonlyMap<string, string>,
): void {
  const known = new Map(migrations.map((migration) => [migration.name, migration.sha256]))
  for (const [name, sha256] of applied) {
    const own = known.get(name)
    if (own === undefined) {
      throw new DatabaseProblem(
        `the database is newer than this version: it has ${name}. Start the version that made it`,
      )
    }
    if (own !== sha256) {
      throw new DatabaseProblem(
        `${name} was changed after it was applied: restore its original text`,
      )
    }
  }
}
