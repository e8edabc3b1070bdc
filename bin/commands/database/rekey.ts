/**
 * `tributary rekey`: reseals all secrets with a new SECRET_KEY, so that the old one can be removed.
 */
import type { Command } from 'commander'
import type { Sql } from 'postgres'
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

interface RekeyOptions {
  readonly dropLost?: boolean
  readonly json?: boolean
}

export function addRekeyCommand(program: Command): void {
  program
    .command('rekey')
    .description('re-encrypt stored secrets with the newest SECRET_KEY')
    .option('--drop-lost', 'remove the secrets whose key is lost')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
To change the key: set SECRET_KEY=NEW,OLD on every gateway and restart them, run
this command with the same value, then set SECRET_KEY=NEW.

If the old key is lost, nothing can open what it sealed: set SECRET_KEY=NEW on
every gateway, and run this command with --drop-lost. It removes credentials of
channels, webhook secrets, authenticator apps and client secrets of sign-in
providers, and creates a new key for checkpoints. Whoever had only an app then
signs in with their password alone, until they set up another one.`,
    )
    .action((options: RekeyOptions) =>
      withSession(async ({ sql, config }) => {
        const done = await rekeyAll(sql, openSecretBox(config), options.dropLost ?? false)
        if (done.dropped > 0) {
          await recordAct(sql, 'secrets removed', { target: '' }, { dropped: done.dropped })
        }
        if (options.json) return printJson(done)
        console.log(`${done.changed} secrets encrypted again, ${done.kept} had the newest key.`)
        if (done.dropped > 0) {
          console.log(`${done.dropped} that no key opens were removed: set them again.`)
        }
      }),
    )
}

async function rekeyAll(sql: Sql, box: SecretBox, dropsLost: boolean): Promise<Rekeyed> {
  const rekeys = [rekeyCatalog, rekeyWebhookSecrets, rekeyTotp, rekeyProviders, rekeySigningKeys]
  const all = { changed: 0, kept: 0, dropped: 0 }
  for (const rekey of rekeys) {
    const { changed, kept, dropped } = await rekey(sql, box, dropsLost).catch(explainKey)
    all.changed += changed
    all.kept += kept
    all.dropped += dropped
  }
  return all
}

function explainKey(error: unknown): never {
  if (!(error instanceof SecretError)) throw error
  throw new OperatorError(
    `${error.message}: set SECRET_KEY=NEW,OLD, the key used before as OLD; ` +
      'if that key is lost, --drop-lost removes what it sealed',
  )
}
