/** Reads the chain and the entries from a backup folder, without a database. */
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  type BackupTable,
  MANIFEST_FILE,
  type Manifest,
  readManifest,
  tableFile,
} from '../../../base/database/backup/backup-manifest.ts'
import { cutRows } from '../../../base/database/backup/copy-text.ts'
import { DatabaseProblem } from '../../../base/database/problem.ts'
import {
  type ArchivedObject,
  type ChainSource,
  type ReadArchived,
  refuseArchived,
} from './chain-source.ts'
import { readArchivedObjects, readBlocks, readEntries } from './read-rows.ts'

/**
 * Archived entries come from the objects that the backup names. Throws DatabaseProblem if the
 * folder is not a backup of a gateway.
 */
export function openBackupChain(
  folder: string,
  readArchived: ReadArchived = refuseArchived,
): ChainSource {
  const from = resolve(folder)
  if (!existsSync(join(from, MANIFEST_FILE))) {
    throw new DatabaseProblem(`${from} is not a backup: it has no ${MANIFEST_FILE}`)
  }
  const manifest = readManifest(readFileSync(join(from, MANIFEST_FILE), 'utf8'))
  const entries = findTable(manifest, 'entry')
  const blocks = findTable(manifest, 'ledger_block')
  // Backups of earlier versions have no archives.
  const archived = manifest.tables.find(({ name }) => name === 'archive_object')
  return {
    blocks: () => readBlocks(readLines(from, blocks), blocks.columns),
    async *entries() {
      yield* readEntries(readLines(from, entries), entries.columns)
      if (!archived) return
      const objects: ArchivedObject[] = []
      const rows = readArchivedObjects(readLines(from, archived), archived.columns)
      for await (const object of rows) objects.push(object)
      yield* readArchived(objects)
    },
  }
}

function findTable(manifest: Manifest, name: string): BackupTable {
  const table = manifest.tables.find((one) => one.name === name)
  if (table) return table
  throw new DatabaseProblem(`the backup has no table ${name}: use another backup`)
}

async function* readLines(from: string, { name }: BackupTable): AsyncGenerator<string> {
  const path = join(from, tableFile(name))
  if (!existsSync(path)) throw new DatabaseProblem(`${path} is missing: use another backup`)
  for await (const row of cutRows(createReadStream(path))) yield row.toString()
}
