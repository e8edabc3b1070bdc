/** `tributary backup` and `tributary restore`: a copy of everything, and the way back. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Sql } from 'postgres'
import { type CopiedContent, copyContent } from '../../server/assets/copy-content.ts'
import { type Config, loadConfig } from '../../server/config.ts'
import { backup } from '../../server/database/backup.ts'
import { type OpenedDatabase, openDatabase } from '../../server/database/open.ts'
import { restore } from '../../server/database/restore.ts'
import { audit } from '../../server/ledger/audit.ts'
import { printJson } from '../lib/print.ts'
import { MIGRATIONS } from '../lib/session.ts'

interface BackupFlags {
  readonly to: string
  readonly files?: boolean
  readonly json?: boolean
}

interface RestoreFlags {
  readonly from: string
  readonly force?: boolean
  readonly json?: boolean
}

/** Written when all files are there. */
const FILES_FILE = 'files.json'
const KEY_IS_ELSEWHERE =
  'The secret key is NOT in this backup: keep SECRET_KEY elsewhere, or its secrets are lost.'

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('copy everything into a new folder, beside running gateways')
    .requiredOption('--to <folder>', 'the folder to make')
    .option('--files', 'with the files and media under DATA_DIR')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nThe copy holds hashes of keys, sealed secrets and stored answers: guard it.',
    )
    .action(runBackup)
  program
    .command('restore')
    .description('bring a backup back into an empty database, all or nothing')
    .requiredOption('--from <folder>', 'a folder that `backup` made')
    .option('--force', 'replace everything the database has')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nStop all gateways first. Ends with an audit; exit code 1 when it fails.',
    )
    .action(runRestore)
}

async function runBackup(flags: BackupFlags): Promise<void> {
  await withPlace(false, async ({ place, kind, sql }, config) => {
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

/** After the rows: what is deleted meanwhile is missing, what is added is not known to them. */
async function backUpFiles(sql: Sql, config: Config, folder: string): Promise<CopiedContent> {
  const copied = await copyContent(sql, join(config.dataDir, 'files'), join(folder, 'files'))
  await writeFile(join(folder, FILES_FILE), `${JSON.stringify(copied, null, 2)}\n`)
  return copied
}

/** Undefined for a backup without files, or one whose files were not copied to the end. */
async function restoreFiles(sql: Sql, config: Config, folder: string) {
  if (!existsSync(join(folder, FILES_FILE))) return undefined
  return copyContent(sql, join(folder, 'files'), join(config.dataDir, 'files'))
}

function describeFiles({ files, bytes, missing, elsewhere }: CopiedContent): string {
  const parts = [
    `${files} files and media of ${(bytes / 1_000_000).toFixed(1)} MB`,
    ...(missing > 0 ? [`${missing} are missing`] : []),
    ...(elsewhere > 0 ? [`${elsewhere} lie in the object store`] : []),
  ]
  return `${parts.join(', ')}.`
}

async function runRestore(flags: RestoreFlags): Promise<void> {
  await withPlace(true, async ({ place, sql }, config) => {
    const restored = await restore({
      place,
      from: flags.from,
      force: flags.force === true,
      migrations: MIGRATIONS,
      secretKeyPath: findSecretKey(config),
      onProgress,
    })
    const files = await restoreFiles(sql, config, flags.from)
    const { ok, checks } = await audit(sql)
    if (!ok) process.exitCode = 1
    const { manifest, migrated, secretKey } = restored
    const broken = checks.filter((check) => !check.ok)
    if (flags.json) {
      const { created_at } = manifest
      const report = { created_at, migrated, secret_key: secretKey, audit: { ok, broken } }
      return printJson({ ...report, ...(files ? { files } : {}) })
    }
    console.log(`Restored the state of ${manifest.created_at}.`)
    for (const name of migrated) console.log(`applied ${name}`)
    if (files) console.log(describeFiles(files))
    if (secretKey === 'missing') {
      console.log('The key that opens the secrets of this backup must be in SECRET_KEY.')
    }
    for (const { id, title } of broken) console.log(`audit: ${id} BROKEN: ${title}`)
    if (ok) console.log('The audit is clean.')
  })
}

/** Restoring owns an embedded database: a gateway that runs on it is found out. */
async function withPlace(
  owner: boolean,
  work: (database: OpenedDatabase, config: Config) => Promise<void>,
): Promise<void> {
  const config = loadConfig()
  const { databaseUrl, dataDir } = config
  const database = await openDatabase({ databaseUrl, dataDir, owner, onProgress })
  try {
    await work(database, config)
  } finally {
    await database.stop()
  }
}

function onProgress(message: string): void {
  console.error(`… ${message}`)
}

/** Undefined when SECRET_KEY is set from outside. */
function findSecretKey({ secretKeys, dataDir }: Config): string | undefined {
  return secretKeys === undefined ? join(dataDir, 'secret-key') : undefined
}
