/** `tributary export`: the configuration as a file that `tributary apply` takes. */
import { type Command, Option } from 'commander'
import { openSecretBox } from '../../../server/api/config/secret-key-file.ts'
import { exportAccounts } from '../../../server/money/accounts/export-accounts.ts'
import { exportCatalog } from '../../../server/money/catalog/export.ts'
import { printJson } from '../../lib/print.ts'
import { withSession } from '../../lib/session.ts'

interface ExportFlags {
  readonly secrets: 'sealed' | 'env'
  readonly accounts: boolean
}

export function addExportCommand(program: Command): void {
  program
    .command('export')
    .description('print catalog, accounts, limits and key hashes as a file for apply')
    .addOption(
      new Option('--secrets <form>', 'encrypted as stored, or names of environment variables')
        .choices(['sealed', 'env'])
        .default('sealed'),
    )
    .option('--no-accounts', 'only channels, models and prices')
    .option('--json', 'as JSON, which it always is')
    .addHelpText(
      'after',
      `
Applying the file changes nothing here, and brings an empty database to the same
configuration. Balances, usage, people and webhook secrets are not included.
Sealed secrets can be applied with the SECRET_KEY of this gateway; with
"--secrets env" the variables to set are listed on the error output.

Examples:
  tributary export > tributary.json
  tributary apply tributary.json --dry-run`,
    )
    .action(exportConfiguration)
}

async function exportConfiguration(flags: ExportFlags): Promise<void> {
  const exported = await withSession(({ sql, config }) =>
    sql.begin('isolation level repeatable read read only', async (view) => {
      const options = { secrets: openSecretBox(config), secretsAs: flags.secrets }
      const { catalog, variables } = await exportCatalog(view, options)
      const accounts = flags.accounts ? await exportAccounts(view) : []
      return { variables, file: accounts.length > 0 ? { ...catalog, accounts } : catalog }
    }),
  )
  printJson(exported.file)
  for (const name of exported.variables) console.error(`set ${name}`)
}
