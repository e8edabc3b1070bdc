/**
 * `tributary rekey`: reseals all secrets with a new SECRET_KEY, so that the old one can be removed.
 */
import type { Command } from 'commander'
import { openSecretBox } from '../../../server/api/config/secret-key-file.ts'
import { rekeyTotp } from '../../../server/api/sign-in/factors/factors.ts'
import { rekeyProviders } from '../../../server/api/sign-in/people/providers/providers.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { SecretError } from '../../../server/base/lib/secrets/secrets.ts'
import { rekeyCatalog } from '../../../server/money/catalog/rekey.ts'
import { rekeySigningKeys } from '../../../server/money/ledger/books/signing-key.ts'
import { rekeyWebhookSecrets } from '../../../server/work/webhooks/secrets.ts'
import { printJson } from '../../lib/print.ts'
import { withSession } from '../../lib/session.ts'

export function addRekeyCommand(program: Command): void {
  program
    .command('rekey')
    .description('re-encrypt stored secrets with the newest SECRET_KEY')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
To change the key: set SECRET_KEY=NEW,OLD on every gateway and restart them, run
this command with the same value, then set SECRET_KEY=NEW.`,
    )
    .action((options: { readonly json?: boolean }) =>
      withSession(async ({ sql, config }) => {
        const box = openSecretBox(config)
        const channels = await rekeyCatalog(sql, box).catch(explainKey)
        const others = [await rekeyWebhookSecrets(sql, box), await rekeyTotp(sql, box)]
        const signIn = await rekeyProviders(sql, box)
        const all = [channels, ...others, signIn, await rekeySigningKeys(sql, box)]
        const done = {
          changed: all.reduce((sum, { changed }) => sum + changed, 0),
          kept: all.reduce((sum, { kept }) => sum + kept, 0),
        }
        if (options.json) return printJson(done)
        console.log(`${done.changed} secrets encrypted again, ${done.kept} had the newest key.`)
      }),
    )
}

function explainKey(error: unknown): never {
  if (!(error instanceof SecretError)) throw error
  throw new OperatorError(`${error.message}: set SECRET_KEY=NEW,OLD, the key used before as OLD`)
}
