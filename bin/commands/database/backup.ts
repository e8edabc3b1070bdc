/** `tributary backup`: backs up everything while gateways run. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Sql } from 'postgres'
import { type CopiedContent, copyContent } from '../../../server/assets/storage/copy-content.ts'
import type { Config } from '../../../server/config/config.ts'
import { backup } from '../../../server/database/backup/backup.ts'
import {
  describeFiles,
  FILES_FILE,
  findSecretKey,
  onProgress,
  withBackupDatabase,
} from '../../lib/backup-database.ts'
import { printJson } from '../../lib/print.ts'

interface BackupFlags {
  readonly to: string
  readonly files?: boolean
  readonly json?: boolean
}

const KEY_IS_ELSEWHERE =
  'The secret key is NOT in this backup: keep SECRET_KEY elsewhere, or its secrets are lost.'

export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description('back up everything to a new folder while gateways run')
    .requiredOption('--to <folder>', 'folder to create')
    .option('--files', 'include the files and media under DATA_DIR')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nThe copy contains hashes of keys, sealed secrets and stored answers: guard it.',
    )
    .action(runBackup)
}

async function runBackup(flags: BackupFlags): Promise<void> {
  await withBackupDatabase(false, async ({ place, kind, sql }, config) => {
    const secretKeyPath = findSecretKey(config)
    const manifest = await backup({ place, kind, target: flags.to, secretKeyPath, onProgress })
    const files = flags.files ? await backUpFiles(sql, config, flags.to) : undefined
    if (flags.json) return printJson({ ...manifest, ...(files ? { files } : {}) })
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
    console.log(`${flags.to}: ${rows} rows of ${manifest.created_at}`)
    if (files) console.log(describeFiles(files))
    if (manifest.secret_key === 'elsewhere') console.log(KEY_IS_ELSEWHERE)
  })
}

/**
 * Copies files after the rows: files deleted meanwhile are missing, and new ones are not
 * referenced.
 */
async function backUpFiles(sql: Sql, config: Config, folder: string): Promise<CopiedContent> {
  const copied = await copyContent(sql, join(config.dataDir, 'files'), join(folder, 'files'))
  await writeFile(join(folder, FILES_FILE), `${JSON.stringify(copied, null, 2)}\n`)
  return copied
}
