/** `tributary migrate`: migrates the database to this version. `serve` does so by itself. */
import type { Command } from 'commander'
import { migrate } from '../../../server/base/database/migrations/migrate.ts'
import { printJson } from '../../lib/print.ts'
import { MIGRATIONS, tellProgress, withDatabase } from '../../lib/session.ts'

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('migrate the database to this version')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nRunning it twice at once is safe: one waits for the other.')
    .action((options: { readonly json?: boolean }) =>
      withDatabase(async ({ sql }) => {
        const { applied, functions, newer } = await migrate(sql, MIGRATIONS, {
          onWaiting: tellProgress,
        })
        if (options.json) return printJson({ applied, functions, newer })
        for (const name of [...applied, ...functions]) console.log(`applied ${name}`)
        for (const name of newer) console.log(`${name} is of a newer version, and compatible`)
        if (applied.length + functions.length + newer.length === 0)
          console.log('The database is up to date.')
      }),
    )
}
