/** Plain SQL migrations, each applied once, in one transaction with the note that it was. */
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

/** The migrations in a folder, in the order of their numbers. */
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
 * Brings the database up to the code. Two migrators at once are safe: each step takes a lock and
 * looks again. Throws when an applied file has changed or when the database is newer than the
 * code. Returns the names it applied itself.
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
    const ours = known.get(name)
    if (ours === undefined) {
      throw new DatabaseProblem(
        `the database is newer than this version: it has ${name}. Start the version that made it`,
      )
    }
    if (ours !== sha256) {
      throw new DatabaseProblem(`${name} was changed after it had been applied: restore its text`)
    }
  }
}
