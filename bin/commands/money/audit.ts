/** `tributary audit`: recomputes the books; fails if an invariant is broken. */
import type { Command } from 'commander'
import { audit } from '../../../server/money/ledger/audit/audit.ts'
import { recordUnbalanced } from '../../../server/work/alerts/alert-store.ts'
import { auditArchives } from '../../../server/work/archive/audit-archives.ts'
import { openArchives } from '../../lib/open-archives.ts'
import { printJson, printTable } from '../../lib/print.ts'
import { recordingRun } from '../../lib/record-run.ts'
import { type CommandSession, requireDatabase, withSession } from '../../lib/session.ts'

interface Flags {
  readonly full?: boolean
  readonly archives?: boolean
  readonly json?: boolean
}

export function addAuditCommand(program: Command): void {
  program
    .command('audit')
    .description('check every ledger invariant; exit code 1 if one is broken')
    .option('--full', 'read verified weeks again, too: every call and every sealed block')
    .option('--archives', 'read archived calls too: every object and every sealed block')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Safe beside a running gateway: all checks see one instant. A week of calls is
verified once, two days after its end at the earliest; later audits read only
its sums. Run --full from time to time: it also finds changes that bypassed the
triggers. Without --archives, only the sums that the database has of archived
entries are read.`,
    )
    .action((options: Flags) => {
      requireDatabase()
      return withSession((session) => {
        const run = { command: 'audit', place: '' } as const
        return recordingRun(session.sql, run, () => runAudit(session, options))
      })
    })
}

async function runAudit({ sql, config }: CommandSession, options: Flags): Promise<void> {
  const live = await audit(sql, { isFull: options.full === true })
  const storage = openArchives(sql, config)
  const archived = options.archives ? await auditArchives(sql, storage) : []
  const checks = [...live.checks, ...archived]
  const result = { ok: checks.every(({ ok }) => ok), checks, weeks: live.weeks }
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
  const { known, verified } = result.weeks
  if (known > 0) console.log(`${known} weeks were counted by the sums of their verification.`)
  if (verified > 0) console.log(`${verified} weeks were verified for the next audits.`)
  for (const { id, details } of result.checks) {
    for (const { subject, found, expected } of details) {
      console.log(`${id}  ${subject}: ${found}; expected ${expected}`)
    }
  }
}
