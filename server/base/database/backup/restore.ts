/**
 * Restores a backup, all or nothing: every file is checked before the database is touched, and the
 * database changes in one transaction that ends by reading back the loaded rows.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TransactionSql } from 'postgres'
import { connect } from '../connection/client.ts'
import type { DatabasePlace } from '../connection/open-client.ts'
import { explainHistory, migrate, readMigrations } from '../migrations/migrate.ts'
import {
  applyMigration,
  createMigrationTable,
  type Migration,
  withMigrationLock,
} from '../migrations/migration-store.ts'
import { DatabaseProblem } from '../problem.ts'
import { type BackupTable, type Manifest, SECRET_KEY_FILE } from './backup-manifest.ts'
import {
  countLiveGateways,
  dropEverything,
  fixFormats,
  insertRows,
  listTables,
  setSequence,
  type TableShape,
  withoutGuards,
} from './backup-store.ts'
import {
  type Comparison,
  compareTable,
  measureTable,
  readRows,
  summariseComparison,
  type TableContent,
} from './compare.ts'
import { readBackup } from './read-backup.ts'
import { refuseWrongKey } from './sealed-secrets.ts'

export interface RestoreOptions {
  readonly place: DatabasePlace
  readonly from: string
  /** The folder of this version's migrations. */
  readonly migrations: string
  /** Replaces the database's content. Without it only an empty database is accepted. */
  readonly force?: boolean
  /** The path of this gateway's key; undefined if the key comes from the environment. */
  readonly secretKeyPath?: string | undefined
  /** The keys of SECRET_KEY; undefined if it is not set. */
  readonly secretKeys?: readonly string[] | undefined
  readonly onProgress?: (message: string) => void
}

export interface Restored {
  readonly manifest: Manifest
  /** Migrations of this version that the backup did not contain. */
  readonly migrated: readonly string[]
  /** `missing`: the key that opens the backup's secrets must be set in SECRET_KEY. */
  readonly secretKey: 'restored' | 'missing' | 'none'
  /** The rows read back before the commit, compared with the backup. */
  readonly compared: Comparison
}

const BATCH_ROWS = 2_000
const BATCH_BYTES = 2_000_000

/** Throws DatabaseProblem if the backup is damaged, or the target is not empty or is in use. */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const from = resolve(options.from)
  const manifest = await readBackup(from)
  const known = readMigrations(options.migrations)
  const needed = selectMigrations(manifest, known)
  refuseOtherKey(manifest, from, options)
  await refuseWrongKey(manifest, from, options.secretKeys)
  const sql = connect(options.place, {
    connections: 1,
    statementTimeoutMs: 0,
    patient: true,
    name: 'tributary restore',
  })
  try {
    const compared = await withMigrationLock(sql, async (transaction) => {
      await clear(transaction, options.force === true)
      for (const migration of needed) await applyMigration(transaction, migration)
      await fixFormats(transaction)
      return await load(transaction, manifest, from, options.onProgress ?? (() => undefined))
    })
    const secretKey = restoreKey(manifest, from, options)
    const { applied: migrated } = await migrate(sql, options.migrations)
    return { manifest, migrated, secretKey, compared }
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Returns the migrations that the backup was taken with, in order. */
function selectMigrations(manifest: Manifest, known: readonly Migration[]): readonly Migration[] {
  const ownMigrations = new Map(known.map((migration) => [migration.name, migration]))
  return manifest.migrations.map(({ name, sha256 }) => {
    const migration = ownMigrations.get(name)
    if (migration?.sha256 === sha256) return migration
    const problem = explainHistory(name, known)
    if (problem) throw new DatabaseProblem(`the backup ${problem}`)
    throw new DatabaseProblem(
      `the backup was made by a newer version: it has ${name}. Restore it with that version`,
    )
  })
}

async function clear(transaction: TransactionSql, force: boolean): Promise<void> {
  const live = await countLiveGateways(transaction)
  if (live > 0) {
    throw new DatabaseProblem(
      `gateways still run on this database (${live}): stop them and wait 20 s`,
    )
  }
  const tables = await listTables(transaction)
  if (tables.length > 0 && !force) {
    throw new DatabaseProblem(
      'the database is not empty: restore into a new one, or replace what it has with --force',
    )
  }
  await dropEverything(transaction)
  await createMigrationTable(transaction)
}

async function load(
  transaction: TransactionSql,
  manifest: Manifest,
  from: string,
  progress: (message: string) => void,
): Promise<Comparison> {
  const shapes = new Map((await listTables(transaction)).map((shape) => [shape.name, shape]))
  const parts: ReturnType<typeof compareTable>[] = []
  await withoutGuards(transaction, [...shapes.values()], async () => {
    for (const table of manifest.tables) {
      const shape = shapes.get(table.name)
      if (!shape) throw new DatabaseProblem(`the backup has a table ${table.name} that is unknown`)
      const backup = await loadTable(transaction, selectColumns(shape, table), table, from)
      const part = compareTable(table.name, backup, await measureTable(transaction, table))
      refuseDifference(part)
      parts.push(part)
      if (table.rows > 0) progress(`${table.name}: ${table.rows} rows`)
    }
  })
  for (const sequence of manifest.sequences) await setSequence(transaction, sequence)
  return summariseComparison(parts, { newerTables: [], newerMigrations: [] })
}

/** Aborts the restore, and with it the transaction, if a table differs from the backup. */
function refuseDifference({ table, sums }: ReturnType<typeof compareTable>): void {
  if (table.same && sums.every(({ same }) => same)) return
  throw new DatabaseProblem(
    `${table.name} differs from the backup after loading (${table.backup.rows} rows in the ` +
      `backup, ${table.database?.rows ?? 0} loaded): nothing was changed`,
  )
}

function selectColumns(shape: TableShape, { name, columns }: BackupTable): TableShape {
  const types = columns.map((column) => {
    const type = shape.types[shape.columns.indexOf(column)]
    if (type) return type
    throw new DatabaseProblem(`the backup has a column ${name}.${column} that is unknown`)
  })
  return { name, columns, types }
}

/** Inserts the rows of a table and returns their measurement. */
async function loadTable(
  transaction: TransactionSql,
  shape: TableShape,
  table: BackupTable,
  from: string,
): Promise<TableContent> {
  const rows = readRows(from, table)
  let columns: (string | null)[][] = shape.columns.map(() => [])
  let count = 0
  let bytes = 0
  for (;;) {
    const next = await rows.next()
    if (!next.done) {
      for (const [index, value] of next.value.fields.entries()) columns[index]?.push(value)
      count += 1
      bytes += next.value.bytes
    }
    if (count > 0 && (next.done || count >= BATCH_ROWS || bytes >= BATCH_BYTES)) {
      await insertRows(transaction, shape, columns)
      columns = shape.columns.map(() => [])
      count = 0
      bytes = 0
    }
    if (next.done) return next.value
  }
}

/** Throws unless the key file can be replaced: a different key may still be needed. */
function refuseOtherKey(manifest: Manifest, from: string, options: RestoreOptions): void {
  const { secretKeyPath, force } = options
  if (typeof manifest.secret_key !== 'object' || force) return
  if (!secretKeyPath || !existsSync(secretKeyPath)) return
  const ownKey = readFileSync(secretKeyPath, 'utf8').trim()
  if (ownKey === readFileSync(join(from, SECRET_KEY_FILE), 'utf8').trim()) return
  throw new DatabaseProblem(
    `${secretKeyPath} holds a different key than the backup: restore into a new DATA_DIR, or ` +
      'replace it with --force',
  )
}

/** Writes the backup's key and keeps the old one beside it. */
function restoreKey(
  manifest: Manifest,
  from: string,
  { secretKeyPath }: RestoreOptions,
): Restored['secretKey'] {
  if (manifest.secret_key === 'none') return 'none'
  if (manifest.secret_key === 'elsewhere' || !secretKeyPath) return 'missing'
  const key = readFileSync(join(from, SECRET_KEY_FILE))
  if (existsSync(secretKeyPath)) {
    if (readFileSync(secretKeyPath).equals(key)) return 'restored'
    renameSync(secretKeyPath, `${secretKeyPath}.replaced`)
  }
  const making = `${secretKeyPath}.new`
  rmSync(making, { force: true })
  writeFileSync(making, key, { mode: 0o600, flush: true })
  renameSync(making, secretKeyPath)
  return 'restored'
}
