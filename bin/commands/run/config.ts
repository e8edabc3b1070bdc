/** `tributary config`: every environment variable with its current value and description. */
import type { Command } from 'commander'
import { loadConfig, showConfig } from '../../../server/config/config.ts'
import { printJson, printTable } from '../../lib/print.ts'

export function addConfigCommand(program: Command): void {
  program
    .command('config')
    .description('show every environment variable; fail if one is invalid')
    .option('--json', 'as JSON')
    .action((options: { readonly json?: boolean }) => {
      loadConfig()
      const rows = showConfig()
      if (options.json) return printJson(rows)
      printTable(
        rows,
        [
          { title: 'variable', cell: ({ name }) => name },
          { title: 'value', cell: ({ value }) => value },
          { title: 'meaning', cell: ({ description }) => description },
        ],
        '',
      )
    })
}
