/**
 * Brings a backup back, all or nothing: every file is checked before the database is touched, and
 * the database changes in one transaction that ends by reading back what it has loaded.
 */
import {
  createReadStream,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import type { TransactionSql } from 'postgres'
import { isSame, measure, measureFile } from './backup-files.ts'
import {
  type BackupFile,
  type BackupTable,
  MANIFEST_FILE,
  type Manifest,
  readManifest,
  SECRET_KEY_FILE,
  tableFile,
} from './backup-manifest.ts'
import {
  copyOut,
  countLiveGateways,
  dropEverything,
  fixFormats,
  insertRows,
  listTables,
  setSequence,
  type TableShape,
  withoutGuards,
} from './backup-store.ts'
import { connect } from './client.ts'
import { cutLines, readCopyLine } from './copy-text.ts'
import { migrate, readMigrations } from './migrate.ts'
import {
  applyMigration,
  createMigrationTable,
  type Migration,
  withMigrationLock,
} from './migration-store.ts'
import type { Place } from './open-client.ts'
import { DatabaseProblem } from './problem.ts'

export interface RestoreOptions {
  readonly place: Place
  readonly from: string
  /** The folder of this version's migrations. */
  readonly migrations: string
  /** Replaces what the database contains. Without it only an empty one is filled. */
  readonly force?: boolean
  /** Where this gateway keeps its key; undefined when it is given from outside. */
  readonly secretKeyPath?: string | undefined
  readonly onProgress?: (message: string) => void
}

export interface Restored {
  readonly manifest: Manifest
  /** Migrations of this version that the backup did not have yet. */
  readonly migrated: readonly string[]
  /** `missing`: the key that opens the backup's secrets has to be in SECRET_KEY. */
  readonly secretKey: 'restored' | 'missing' | 'none'
}

const BATCH_ROWS = 2_000
const BATCH_CHARACTERS = 2_000_000

/** Throws DatabaseProblem when the backup is damaged or the target is not empty or in use. */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const from = resolve(options.from)
  const manifest = await readChecked(from)
  const known = readMigrations(options.migrations)
  const needed = selectMigrations(manifest, known)
  refuseOtherKey(manifest, from, options)
  const sql = connect(options.place, {
    connections: 1,
    statementTimeoutMs: 0,
    name: 'tributary restore',
  })
  try {
    await withMigrationLock(sql, async (transaction) => {
      await clear(transaction, options.force === true)
      for (const migration of needed) await applyMigration(transaction, migration)
      await fixFormats(transaction)
      await load(transaction, manifest, from, options.onProgress ?? (() => undefined))
    })
    const secretKey = restoreKey(manifest, from, options)
    const migrated = await migrate(sql, options.migrations)
    return { manifest, migrated, secretKey }
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Reads the manifest and every file that it names. */
async function readChecked(from: string): Promise<Manifest> {
  if (!existsSync(join(from, MANIFEST_FILE))) {
    throw new DatabaseProblem(`${from} is not a backup: it has no ${MANIFEST_FILE}`)
  }
  const manifest = readManifest(readFileSync(join(from, MANIFEST_FILE), 'utf8'))
  for (const table of manifest.tables) await checkFile(join(from, tableFile(table.name)), table)
  const { secret_key } = manifest
  if (typeof secret_key === 'object') await checkFile(join(from, SECRET_KEY_FILE), secret_key)
  return manifest
}

async function checkFile(
  path: string,
  stated: BackupFile & { readonly rows?: number },
): Promise<void> {
  if (!existsSync(path)) throw new DatabaseProblem(`${path} is missing: use another backup`)
  if (isSame(await measureFile(path), stated)) return
  throw new DatabaseProblem(`${path} is not what was backed up: use another backup`)
}

/** The migrations the backup was made with, in their order. */
function selectMigrations(manifest: Manifest, known: readonly Migration[]): readonly Migration[] {
  return manifest.migrations.map(({ name, sha256 }, index) => {
    const ours = known[index]
    if (ours?.name === name && ours.sha256 === sha256) return ours
    throw new DatabaseProblem(
      `the backup was made by another version: it has ${name}. Restore with the version that ` +
        'made it, then start this one',
    )
  })
}

async function clear(transaction: TransactionSql, force: boolean): Promise<void> {
  const live = await countLiveGateways(transaction)
  if (live > 0) {
    throw new DatabaseProblem(
      `${live} gateway${live > 1 ? 's' : ''} still run on this database: stop them and wait 20 s`,
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
): Promise<void> {
  const shapes = new Map((await listTables(transaction)).map((shape) => [shape.name, shape]))
  await withoutGuards(transaction, [...shapes.values()], async () => {
    for (const table of manifest.tables) {
      const shape = shapes.get(table.name)
      if (!shape) throw new DatabaseProblem(`the backup has a table ${table.name} that is unknown`)
      await loadTable(transaction, selectColumns(shape, table), from)
      const found = await measure(copyOut(transaction, table))
      if (!isSame(found, table)) {
        throw new DatabaseProblem(`${table.name} did not come back as it was: nothing was changed`)
      }
      if (found.rows > 0) progress(`${table.name}: ${found.rows} rows`)
    }
  })
  for (const sequence of manifest.sequences) await setSequence(transaction, sequence)
}

function selectColumns(shape: TableShape, { name, columns }: BackupTable): TableShape {
  const types = columns.map((column) => {
    const type = shape.types[shape.columns.indexOf(column)]
    if (type) return type
    throw new DatabaseProblem(`the backup has a column ${name}.${column} that is unknown`)
  })
  return { name, columns, types }
}

async function loadTable(
  transaction: TransactionSql,
  table: TableShape,
  from: string,
): Promise<void> {
  let columns: (string | null)[][] = table.columns.map(() => [])
  let characters = 0
  let rows = 0
  async function flush(): Promise<void> {
    if (rows > 0) await insertRows(transaction, table, columns)
    columns = table.columns.map(() => [])
    characters = 0
    rows = 0
  }
  for await (const line of cutLines(createReadStream(join(from, tableFile(table.name))))) {
    for (const [index, value] of readCopyLine(line).entries()) columns[index]?.push(value)
    rows += 1
    characters += line.length
    if (rows >= BATCH_ROWS || characters >= BATCH_CHARACTERS) await flush()
  }
  await flush()
}

/** A key of its own that is already there may seal something that is still needed. */
function refuseOtherKey(manifest: Manifest, from: string, options: RestoreOptions): void {
  const { secretKeyPath, force } = options
  if (typeof manifest.secret_key !== 'object' || force) return
  if (!secretKeyPath || !existsSync(secretKeyPath)) return
  const ours = readFileSync(secretKeyPath, 'utf8').trim()
  if (ours === readFileSync(join(from, SECRET_KEY_FILE), 'utf8').trim()) return
  throw new DatabaseProblem(
    `${secretKeyPath} is another key than the backup's: restore into a new DATA_DIR, or replace ` +
      'it with --force',
  )
}

/** The old key is kept beside the new one. */
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
