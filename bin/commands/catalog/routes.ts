/** `tributary routes`: lists the public API's endpoints from their declarations. */
import type { Command } from 'commander'
import { printJson, printTable } from '../../lib/print.ts'

export function addRoutesCommand(program: Command): void {
  program
    .command('routes')
    .description('list every endpoint of the public API')
    .option('--json', 'as JSON')
    .action(async (options: { readonly json?: boolean }) => {
      const { ENDPOINTS } = await import('../../../server/api/endpoints/index.ts')
      const rows = ENDPOINTS.flatMap(({ method, paths, kind, documentation }) =>
        paths.map((path) => {
          return { method, path, kind, summary: documentation.summary, tag: documentation.tag }
        }),
      )
      if (options.json) return printJson(rows)
      printTable(
        rows,
        [
          { title: 'method', cell: ({ method }) => method },
          { title: 'path', cell: ({ path }) => path },
          { title: 'kind', cell: ({ kind }) => kind },
          { title: 'summary', cell: ({ summary }) => summary },
        ],
        'There are no endpoints.',
      )
    })
}
