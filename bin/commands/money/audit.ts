/** `tributary audit`: recomputes the books; fails if an invariant is broken. */
import type { Command } from 'commander'
import { audit } from '../../../server/ledger/audit/audit.ts'
import { printJson, printTable } from '../../lib/print.ts'
import { withSession } from '../../lib/session.ts'

export function addAuditCommand(program: Command): void {
  program
    .command('audit')
    .description('check every ledger invariant; exit code 1 if one is broken')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nSafe beside a running gateway: all checks see one instant.')
    .action((options: { readonly json?: boolean }) =>
      withSession(async ({ sql }) => {
        const result = await audit(sql)
        if (!result.ok) process.exitCode = 1
        if (options.json) return printJson(result)
        printTable(
          result.checks,
          [
            { title: '', cell: ({ id }) => id },
            { title: 'check', cell: ({ title }) => title },
            { title: '', cell: ({ ok }) => (ok ? 'ok' : 'BROKEN') },
          ],
          'There is nothing to check.',
        )
        for (const { id, details } of result.checks) {
          for (const { subject, found, expected } of details) {
            console.log(`${id}  ${subject}: ${found}; expected ${expected}`)
          }
        }
      }),
    )
}
