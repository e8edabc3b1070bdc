/** `tributary migrate`: migrates the database to this version. `serve` does so by itself. */
import type { Command } from 'commander'
import { migrate } from '../../../server/database/migrations/migrate.ts'
import { printJson } from '../../lib/print.ts'
import { MIGRATIONS, withDatabase } from '../../lib/session.ts'

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('migrate the database to this version')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nTwo at once are safe: one waits for the other.')
    .action((options: { readonly json?: boolean }) =>
      withDatabase(async ({ sql }) => {
        const { applied, newer } = await migrate(sql, MIGRATIONS)
        if (options.json) return printJson({ applied, newer })
        for (const name of applied) console.log(`applied ${name}`)
        for (const name of newer) console.log(`${name} is of a newer version, and compatible`)
        if (applied.length + newer.length === 0) console.log('The database is up to date.')
      }),
    )
}
