/**
 * `tributary rekey`: reseals all secrets with a new SECRET_KEY, so that the old one can be removed.
 */
import type { Command } from 'commander'
import type { Sql, TransactionSql } from 'postgres'
import { openSecretBox } from '../../../server/api/config/secret-key-file.ts'
import { rekeyTotp } from '../../../server/api/sign-in/factors/factors.ts'
import { rekeyProviders } from '../../../server/api/sign-in/people/providers/providers.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { type SecretBox, SecretError } from '../../../server/base/lib/secrets/secrets.ts'
import { type Rekeyed, rekeyCatalog } from '../../../server/money/catalog/rekey.ts'
import { rekeySigningKeys } from '../../../server/money/ledger/books/signing-key.ts'
import { rekeyWebhookSecrets } from '../../../server/work/webhooks/secrets.ts'
import { printJson } from '../../lib/print.ts'
import { recordAct, withSession } from '../../lib/session.ts'

const REKEYS = [rekeyCatalog, rekeyWebhookSecrets, rekeyTotp, rekeyProviders, rekeySigningKeys]

interface RekeyOptions {
  readonly dropLost?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

export function addRekeyCommand(program: Command): void {
  program
    .command('rekey')
    .description('re-encrypt stored secrets with the newest SECRET_KEY')
    .option('--drop-lost', 'remove the secrets whose key is lost')
    .option('--dry-run', 'only count them')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
To change the key: set SECRET_KEY=NEW,OLD on every gateway and restart them, run
this command with the same value, then set SECRET_KEY=NEW.

If the old key is lost, nothing can open what it sealed: set SECRET_KEY=NEW on
every gateway, and run this command with --drop-lost, first with --dry-run: for
a key with a wrong digit, every secret is lost. It removes credentials of
channels, webhook secrets, authenticator apps and client secrets of sign-in
providers, and creates a new key for checkpoints. Whoever had only an app then
signs in with their password alone, until they set up another one.`,
    )
    .action((options: RekeyOptions) =>
      withSession(async ({ sql, config }) => {
        const done = await rekeyAll(sql, openSecretBox(config), options)
        if (options.json) return printJson(done)
        const { changed, kept, dropped } = done
        if (options.dryRun) {
          console.log(`${changed} secrets would be encrypted again, ${kept} have the newest key.`)
          if (dropped > 0) console.log(`${dropped} that no key opens would be removed.`)
          return
        }
        console.log(`${changed} secrets encrypted again, ${kept} had the newest key.`)
        if (dropped > 0) console.log(`${dropped} that no key opens were removed: set them again.`)
      }),
    )
}

/** Changes all secrets or none, in one transaction with the record of what was removed. */
async function rekeyAll(sql: Sql, box: SecretBox, options: RekeyOptions): Promise<Rekeyed> {
  const { dropLost = false, dryRun = false } = options
  const all = { changed: 0, kept: 0, dropped: 0 }
  const unkept = new Error('a dry run keeps nothing')
  const work = async (transaction: TransactionSql) => {
    for (const rekey of REKEYS) {
      const { changed, kept, dropped } = await rekey(transaction, box, dropLost)
      all.changed += changed
      all.kept += kept
      all.dropped += dropped
    }
    if (dryRun) throw unkept
    if (all.dropped === 0) return
    await recordAct(transaction, 'secrets removed', { target: '' }, { dropped: all.dropped })
  }
  await sql.begin(work).catch((error) => {
    if (error !== unkept) explainKey(error)
  })
  return all
}

function explainKey(error: unknown): never {
  if (!(error instanceof SecretError)) throw error
  throw new OperatorError(
    `${error.message}: set SECRET_KEY=NEW,OLD, the key used before as OLD; ` +
      'if that key is lost, --drop-lost removes what it sealed',
  )
}
