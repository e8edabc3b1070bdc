/** `tributary config`: every environment variable, what it is now and what it is for. */
import type { Command } from 'commander'
import { describeConfig, listVariables, loadConfig } from '../../server/config.ts'
import { printJson, printTable } from '../lib/print.ts'

export function addConfigCommand(program: Command): void {
  program
    .command('config')
    .description('every environment variable; fails when one is wrong')
    .option('--json', 'as JSON')
    .action((options: { readonly json?: boolean }) => {
      loadConfig()
      const values = new Map(
        describeConfig().map((line) => {
          const equals = line.indexOf('=')
          return [line.slice(0, equals), line.slice(equals + 1)] as const
        }),
      )
      const rows = listVariables().map(({ name, description }) => {
        return { name, value: values.get(name) ?? '', description }
      })
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
