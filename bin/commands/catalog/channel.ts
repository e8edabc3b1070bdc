/** `tributary channel …`: channels with their settings, secrets masked. */
import type { Command } from 'commander'
import { describeChannel, listChannelSummaries } from '../../../server/catalog/describe.ts'
import { openSecretBox } from '../../../server/config/secret-key-file.ts'
import { printFields, printJson, printTable, printTime } from '../../lib/print.ts'
import { withSession } from '../../lib/session.ts'

interface JsonOption {
  readonly json?: boolean
}

export function addChannelCommands(program: Command): void {
  const channel = program.command('channel').description('list and show channels')
  channel
    .command('list')
    .description('list channels')
    .option('--all', 'include retired ones')
    .option('--json', 'as JSON')
    .action((options: JsonOption & { readonly all?: boolean }) =>
      withSession(async ({ sql }) => {
        const rows = await listChannelSummaries(sql, options.all ?? false)
        if (options.json) return printJson(rows)
        printTable(
          rows,
          [
            { title: 'id', cell: ({ id }) => id },
            { title: 'upstream', cell: ({ upstream }) => upstream },
            { title: 'status', cell: ({ status }) => status },
            { title: 'version', cell: ({ version }) => version, right: true },
            { title: 'source', cell: ({ source }) => source },
            { title: 'updated', cell: (row) => printTime(row.updated_at) },
          ],
          'There are no channels yet: tributary apply catalog/….json',
        )
      }),
    )
  channel
    .command('show <channel>')
    .description('show one channel with its settings, secrets masked')
    .option('--json', 'as JSON')
    .action((id: string, options: JsonOption) =>
      withSession(async ({ sql, config }) => {
        const found = await describeChannel(sql, openSecretBox(config), id)
        if (options.json) return printJson(found)
        const { settings, updated_at, ...fields } = found
        printFields({
          ...fields,
          updated: printTime(updated_at),
          ...Object.fromEntries(
            Object.entries(settings).map(([name, value]) => [`  ${name}`, plain(value)]),
          ),
        })
      }),
    )
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
