/**
 * Backs up everything the gateway stores, from one snapshot while gateways run. The backup is
 * logical (rows, not pages): it can be restored on another machine, between embedded and external
 * databases, and on other major versions of PostgreSQL.
 */
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { TransactionSql } from 'postgres'
import { connect } from '../connection/client.ts'
import type { DatabasePlace } from '../connection/open-client.ts'
import { readApplied } from '../migrations/migration-store.ts'
import { DatabaseProblem } from '../problem.ts'
import { readErrorCode } from '../unavailable.ts'
import { writeMeasured } from './backup-files.ts'
import {
  type BackupTable,
  FORMAT,
  MANIFEST_FILE,
  type Manifest,
  SECRET_KEY_FILE,
  tableFile,
} from './backup-manifest.ts'
import {
  copyOut,
  keepShapes,
  listTables,
  readInstant,
  readSequences,
  withSnapshot,
} from './backup-store.ts'

export interface BackupOptions {
  readonly place: DatabasePlace
  readonly kind: Manifest['kind']
  /** The folder to create. It may exist if it is empty. */
  readonly target: string
  /** The path of the key that seals secrets; undefined if the key comes from the environment. */
  readonly secretKeyPath?: string | undefined
  readonly onProgress?: (message: string) => void
}

/**
 * Writes a backup and returns its manifest. The folder gets its final name only once complete.
 * Throws DatabaseProblem if the folder is not empty, the disk is full or the database was never
 * migrated.
 */
export async function backup(options: BackupOptions): Promise<Manifest> {
  const target = resolve(options.target)
  const making = `${target}.partial`
  try {
    refuseTaken(target)
    rmSync(making, { recursive: true, force: true })
    mkdirSync(dirname(making), { recursive: true })
    mkdirSync(making, { mode: 0o700 })
    const manifest = await writeAll(options, making)
    const text = `${JSON.stringify(manifest, null, 2)}\n`
    writeFileSync(join(making, MANIFEST_FILE), text, { mode: 0o600, flush: true })
    rmSync(target, { recursive: true, force: true })
    renameSync(making, target)
    return manifest
  } catch (cause) {
    rmSync(making, { recursive: true, force: true })
    throw explain(cause, target)
  }
}

async function writeAll(options: BackupOptions, folder: string): Promise<Manifest> {
  const secretKey = await copySecretKey(options.secretKeyPath, folder)
  const sql = connect(options.place, {
    connections: 1,
    statementTimeoutMs: 0,
    patient: true,
    name: 'tributary backup',
  })
  try {
    return await withSnapshot(sql, async (view) => {
      const applied = await readApplied(view)
      const shapes = await listTables(view)
      await keepShapes(view, shapes)
      const { at, version } = await readInstant(view)
      const tables: BackupTable[] = []
      for (const shape of shapes) tables.push(await writeTable(view, shape, folder, options))
      return {
        format: FORMAT,
        created_at: at.toISOString(),
        kind: options.kind,
        server_version: version,
        secret_key: secretKey,
        migrations: [...applied].map(([name, sha256]) => ({ name, sha256 })),
        tables,
        sequences: await readSequences(view),
      }
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function writeTable(
  view: TransactionSql,
  { name, columns }: { readonly name: string; readonly columns: readonly string[] },
  folder: string,
  { onProgress }: BackupOptions,
): Promise<BackupTable> {
  const rows = copyOut(view, { name, columns })
  const measured = await writeMeasured(rows, join(folder, tableFile(name)))
  if (measured.rows > 0) onProgress?.(`${name}: ${measured.rows} rows`)
  return { name, columns, ...measured }
}

async function copySecretKey(
  path: string | undefined,
  folder: string,
): Promise<Manifest['secret_key']> {
  if (path === undefined) return 'elsewhere'
  if (!existsSync(path)) return 'none'
  const { bytes, sha256 } = await writeMeasured(
    createReadStream(path),
    join(folder, SECRET_KEY_FILE),
  )
  return { bytes, sha256 }
}

function refuseTaken(target: string): void {
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new DatabaseProblem(`${target} is not empty: name a new folder for the backup`)
  }
}

function explain(cause: unknown, target: string): unknown {
  const code = readErrorCode(cause)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new DatabaseProblem(`the disk of ${target} is full: nothing was written`, cause)
  }
  if (['EACCES', 'EROFS', 'EPERM', 'EEXIST', 'ENOTDIR'].includes(code)) {
    return new DatabaseProblem(`${target} cannot be created (${code}): name another folder`, cause)
  }
  if (code === '42P01') {
    return new DatabaseProblem('there is nothing to back up: the database was never set up', cause)
  }
  return cause
}
