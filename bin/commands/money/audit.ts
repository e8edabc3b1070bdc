/** `tributary audit`: recomputes the books; fails if an invariant is broken. */
import type { Command } from 'commander'
import { audit } from '../../../server/money/ledger/audit/audit.ts'
import { recordUnbalanced } from '../../../server/work/alerts/alert-store.ts'
import { auditArchives } from '../../../server/work/archive/audit-archives.ts'
import { openArchives } from '../../lib/open-archives.ts'
import { printJson, printTable } from '../../lib/print.ts'
import { recordingRun } from '../../lib/record-run.ts'
import { type CommandSession, withSession } from '../../lib/session.ts'

interface Flags {
  readonly archives?: boolean
  readonly json?: boolean
}

export function addAuditCommand(program: Command): void {
  program
    .command('audit')
    .description('check every ledger invariant; exit code 1 if one is broken')
    .option('--archives', 'read archived months too: every object and every sealed block')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nSafe beside a running gateway: all checks see one instant. Without --archives,\n' +
        'archived entries count by the sums that the database has of them.',
    )
    .action((options: Flags) =>
      withSession((session) => {
        const run = { command: 'audit', place: '' } as const
        return recordingRun(session.sql, run, () => runAudit(session, options))
      }),
    )
}

async function runAudit({ sql, config }: CommandSession, options: Flags): Promise<void> {
  const live = await audit(sql)
  const storage = openArchives(sql, config)
  const archived = options.archives ? await auditArchives(sql, storage) : []
  const checks = [...live.checks, ...archived]
  const result = { ok: checks.every(({ ok }) => ok), checks }
  if (!result.ok) {
    process.exitCode = 1
    await recordUnbalanced(
      sql,
      checks.filter(({ ok }) => !ok),
    )
  }
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
}
