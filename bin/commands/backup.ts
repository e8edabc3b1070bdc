/** `tributary backup` and `tributary restore`: a copy of everything, and the way back. */
import { join } from 'node:path'
import type { Command } from 'commander'
import { type Config, loadConfig } from '../../server/config.ts'
import { backup } from '../../server/database/backup.ts'
import { type OpenedDatabase, openDatabase } from '../../server/database/open.ts'
import { restore } from '../../server/database/restore.ts'
import { audit } from '../../server/ledger/audit.ts'
import { printJson } from '../lib/print.ts'
import { MIGRATIONS } from '../lib/session.ts'

interface BackupFlags {
  readonly to: string
  readonly json?: boolean
}

interface RestoreFlags {
  readonly from: string
  readonly force?: boolean
  readonly json?: boolean
}

const KEY_IS_ELSEWHERE =
  'The secret key is NOT in this backup: keep SECRET_KEY elsewhere, or its secrets are lost.'

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('copy everything into a new folder, beside running gateways')
    .requiredOption('--to <folder>', 'the folder to make')
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
  await withPlace(false, async ({ place, kind }, config) => {
    const secretKeyPath = findSecretKey(config)
    const manifest = await backup({ place, kind, target: flags.to, secretKeyPath, onProgress })
    if (flags.json) return printJson(manifest)
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
    console.log(`${flags.to}: ${rows} rows of ${manifest.created_at}`)
    if (manifest.secret_key === 'elsewhere') console.log(KEY_IS_ELSEWHERE)
  })
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
    const { ok, checks } = await audit(sql)
    if (!ok) process.exitCode = 1
    const { manifest, migrated, secretKey } = restored
    const broken = checks.filter((check) => !check.ok)
    if (flags.json) {
      const { created_at } = manifest
      return printJson({ created_at, migrated, secret_key: secretKey, audit: { ok, broken } })
    }
    console.log(`Restored the state of ${manifest.created_at}.`)
    for (const name of migrated) console.log(`applied ${name}`)
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
