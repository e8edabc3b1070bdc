/** `tributary restore`: restores a backup, or compares one with the database. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Sql } from 'postgres'
import type { Config } from '../../../server/api/config/config.ts'
import { verifyBackup } from '../../../server/base/database/backup/compare.ts'
import { type Restored, restore } from '../../../server/base/database/backup/restore.ts'
import { refuseWrongKey } from '../../../server/base/database/backup/sealed-secrets.ts'
import { type AuditResult, audit } from '../../../server/money/ledger/audit/audit.ts'
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
import { printJson } from '../../lib/print.ts'
import { describeComparison, printAudit, printComparison } from '../../lib/print-comparison.ts'
import { MIGRATIONS } from '../../lib/session.ts'

interface RestoreFlags {
  readonly from: string
  readonly force?: boolean
  readonly verify?: boolean
  readonly json?: boolean
}

export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .description('restore a backup into an empty database, all or nothing')
    .requiredOption('--from <folder>', 'folder created by `backup`')
    .option('--force', 'replace all data in the database')
    .option('--verify', 'compare the database with the backup, without changes')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Stop all gateways first. Loaded rows are compared with the backup before the
commit, and the books are audited. --verify compares at one instant, even while
gateways run; an empty database is restored first. Exit code 1 if anything
differs, the audit fails or SECRET_KEY does not open the secrets of the backup.`,
    )
    .action(runRestore)
}

async function runRestore(flags: RestoreFlags): Promise<void> {
  if (flags.verify && !flags.force && (await runVerify(flags))) return
  await withBackupDatabase(true, async ({ place, sql }, config) => {
    const restored = await restore({
      place,
      from: flags.from,
      force: flags.force === true,
      migrations: MIGRATIONS,
      secretKeyPath: findSecretKey(config),
      secretKeys: config.secretKeys,
      onProgress,
    })
    const files = await restoreFiles(sql, config, flags.from)
    report(flags, restored, files, await audit(sql))
  })
}

/** Returns false if the database is empty, so that there is nothing to compare. */
async function runVerify(flags: RestoreFlags): Promise<boolean> {
  let wasCompared = false
  await withBackupDatabase(false, async ({ place, sql }, config) => {
    const { manifest, compared } = await verifyBackup(place, flags.from)
    if (!compared) return
    wasCompared = true
    await refuseWrongKey(manifest, resolve(flags.from), config.secretKeys)
    const audited = await audit(sql)
    if (!compared.same || !audited.ok) process.exitCode = 1
    if (flags.json) {
      const { created_at } = manifest
      const comparison = describeComparison(compared)
      return printJson({ created_at, compared: comparison, audit: describeAudit(audited) })
    }
    console.log(`The backup is undamaged; it has the state of ${manifest.created_at}.`)
    printComparison(compared)
    printAudit(audited)
  })
  return wasCompared
}

/** Returns undefined for a backup without files, or with an incomplete copy of them. */
async function restoreFiles(sql: Sql, config: Config, folder: string) {
  if (!existsSync(join(folder, FILES_FILE))) return undefined
  return copyContent(sql, join(folder, 'files'), join(config.dataDir, 'files'))
}

function report(
  flags: RestoreFlags,
  restored: Restored,
  files: CopiedContent | undefined,
  audited: AuditResult,
): void {
  const { manifest, migrated, secretKey, compared } = restored
  if (!audited.ok) process.exitCode = 1
  if (flags.json) {
    const { created_at } = manifest
    printJson({
      created_at,
      migrated,
      secret_key: secretKey,
      compared: describeComparison(compared),
      audit: describeAudit(audited),
      ...(files ? { files } : {}),
    })
    return
  }
  console.log(`Restored the state of ${manifest.created_at}.`)
  printComparison(compared)
  for (const name of migrated) console.log(`applied ${name}`)
  if (files) console.log(describeFiles(files))
  if (secretKey === 'missing') {
    console.log('The key that opens the secrets of this backup must be in SECRET_KEY.')
  }
  printAudit(audited)
}

function describeAudit({ ok, checks }: AuditResult): object {
  return {
    ok,
    checks: checks.map(({ id, title, ok }) => ({ id, title, ok })),
    broken: checks.filter((check) => !check.ok),
  }
}
