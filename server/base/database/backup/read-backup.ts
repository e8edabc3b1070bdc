/** Opens a backup and checks every file before any of it is used. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseProblem } from '../problem.ts'
import { isSame, measureFile } from './backup-files.ts'
import {
  type BackupFile,
  MANIFEST_FILE,
  type Manifest,
  readManifest,
  SECRET_KEY_FILE,
  tableFile,
} from './backup-manifest.ts'
import { NOT_BACKED_UP } from './backup-store.ts'

/**
 * Reads the manifest and checks every file that it lists. Throws DatabaseProblem if the folder is
 * not a backup or is damaged.
 */
export async function readBackup(from: string): Promise<Manifest> {
  if (!existsSync(join(from, MANIFEST_FILE))) {
    throw new DatabaseProblem(`${from} is not a backup: it has no ${MANIFEST_FILE}`)
  }
  const manifest = readManifest(readFileSync(join(from, MANIFEST_FILE), 'utf8'))
  for (const table of manifest.tables) await checkFile(join(from, tableFile(table.name)), table)
  const { secret_key } = manifest
  if (typeof secret_key === 'object') await checkFile(join(from, SECRET_KEY_FILE), secret_key)
  // A version that is older than one of these tables treats it as data.
  const tables = manifest.tables.filter(({ name }) => !NOT_BACKED_UP.includes(name))
  return { ...manifest, tables }
}

async function checkFile(
  path: string,
  stated: BackupFile & { readonly rows?: number },
): Promise<void> {
  if (!existsSync(path)) throw new DatabaseProblem(`${path} is missing: use another backup`)
  if (isSame(await measureFile(path), stated)) return
  throw new DatabaseProblem(`${path} does not match its checksum: use another backup`)
}
