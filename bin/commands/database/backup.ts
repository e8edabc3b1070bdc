/** `tributary backup`: backs up everything while gateways run. */
import { readdirSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Sql } from 'postgres'
import type { Config } from '../../../server/api/config/config.ts'
import { backup } from '../../../server/base/database/backup/backup.ts'
import { describeClosedToOwnKey } from '../../../server/base/database/backup/sealed-secrets.ts'
import type { OpenedDatabase } from '../../../server/base/database/open.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import {
  type CopiedContent,
  copyContent,
} from '../../../server/work/assets/storage/copy-content.ts'
import {
  describeFiles,
  FILES_FILE,
  findSecretKey,
  onProgress,
  withBackupDatabase,
} from '../../lib/backup-database.ts'
import { whole } from '../../lib/parse.ts'
import { printJson } from '../../lib/print.ts'
import { recordingRun } from '../../lib/record-run.ts'
import { requireDatabase } from '../../lib/session.ts'

interface BackupFlags {
  readonly to?: string
  readonly into?: string
  readonly keep?: number
  readonly files?: boolean
  readonly json?: boolean
}

const NAMED_BY_TIME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d$/

const KEY_IS_ELSEWHERE =
  'The secret key is NOT in this backup: keep SECRET_KEY elsewhere, or its secrets are lost.'
const FIND_KEY = 'The gateways use another key: keep it, and back up with it in SECRET_KEY'

export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description('back up everything to a new folder while gateways run')
    .option('--to <folder>', 'folder to create')
    .option('--into <folder>', 'create a folder in this one, named by the time (UTC)')
    .option(
      '--keep <count>',
      'with --into: keep this many backups there and remove older ones',
      whole,
    )
    .option('--files', 'include the files and media under DATA_DIR')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nThe copy contains hashes of keys, sealed secrets and stored answers: guard it.\n\n' +
        'Examples:\n' +
        '  tributary backup --to backups/before-the-upgrade\n' +
        '  tributary backup --into backups --keep 14    # every night, by cron or a timer',
    )
    .action(runBackup)
}

async function runBackup(flags: BackupFlags): Promise<void> {
  const target = chooseTarget(flags)
  requireDatabase()
  const place = `${hostname()}:${dirname(resolve(target))}`
  await withBackupDatabase(false, async (database, config) => {
    const work = () => backUp(database, config, { ...flags, target })
    await recordingRun(database.sql, { command: 'backup', place }, work)
  })
}

async function backUp(
  { place, kind, sql }: OpenedDatabase,
  config: Config,
  { target, ...flags }: BackupFlags & { readonly target: string },
): Promise<void> {
  const secretKeyPath = findSecretKey(config)
  const manifest = await backup({ place, kind, target, secretKeyPath, onProgress })
  const files = flags.files ? await backUpFiles(sql, config, target) : undefined
  const closed = await describeClosedToOwnKey(manifest, target)
  if (closed !== undefined) {
    console.error(`warning: ${secretKeyPath} does not open ${closed}. ${FIND_KEY}.`)
  }
  const removed = flags.into && flags.keep ? removeOld(flags.into, flags.keep) : []
  if (flags.json) {
    return printJson({ ...manifest, folder: target, removed, ...(files ? { files } : {}) })
  }
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  console.log(`${target}: ${rows} rows of ${manifest.created_at}`)
  if (files) console.log(describeFiles(files))
  for (const folder of removed) console.log(`removed ${folder}`)
  if (manifest.secret_key === 'elsewhere') console.log(KEY_IS_ELSEWHERE)
}

function chooseTarget({ to, into, keep }: BackupFlags): string {
  if (to && !into && !keep) return to
  if (into && !to) return join(into, new Date().toISOString().slice(0, 19).replaceAll(':', '-'))
  throw new OperatorError('name the folder: --to <folder>, or --into <folder> [--keep <count>]')
}

/** Removes all but the newest backups that `--into` has made. Returns their folders. */
function removeOld(folder: string, keep: number): string[] {
  const names = readdirSync(folder).filter((name) => NAMED_BY_TIME.test(name))
  const old = names.toSorted().slice(0, -keep)
  return old.map((name) => {
    rmSync(join(folder, name), { recursive: true })
    return join(folder, name)
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
