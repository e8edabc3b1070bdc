/** `tributary webhook resend`: sends one delivery again, or those dropped in a period. */
import type { Command } from 'commander'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { parsePastOption } from '../../lib/parse.ts'
import { printJson } from '../../lib/print.ts'
import { recordAct, withSession } from '../../lib/session.ts'
import { type JsonOption, openWebhooks, ownerOf, showOne, unknown } from './show-delivery.ts'

const REDELIVER_ONE = 'POST /accounts/:account_id/webhooks/deliveries/:delivery_id/redeliver'
const REDELIVER_ALL = 'POST /operator/deliveries/redeliver'

interface ResendOptions extends JsonOption {
  readonly from?: Date
  readonly to?: Date
  readonly account?: string
  readonly host?: string
  readonly dryRun?: boolean
}

export function addResendCommand(webhook: Command): void {
  webhook
    .command('resend [delivery]')
    .alias('redeliver')
    .description('resend one delivery, or all that were dropped in a period, through a gateway')
    .option('--from <time>', 'dropped deliveries created at or after', parsePastOption)
    .option('--to <time>', 'and before; at most 24 hours later', parsePastOption)
    .option('--account <account>', 'only this account')
    .option('--host <host>', 'only this receiver, with or without its port')
    .option('--dry-run', 'only count them')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
The body is the same, timestamp and signature are new, and there are four
attempts again. Each delivery is sent again only once, however often the command
runs. At most 500 are sent at a time. Examples:
  tributary webhook resend whd_…
  tributary webhook resend --from 2030-01-31T08:00Z --to 2030-01-31T09:00Z \\
    --dry-run
  tributary webhook resend --from 2030-01-31T08:00Z --to 2030-01-31T09:00Z \\
    --host example.com`,
    )
    .action((id: string | undefined, options: ResendOptions) =>
      id === undefined ? resendDropped(options) : resendOne(id, options),
    )
}

async function resendOne(id: string, options: ResendOptions): Promise<void> {
  const { from, to, account, host, dryRun } = options
  if (from ?? to ?? account ?? host ?? dryRun) {
    throw new OperatorError('name one delivery, or a time with --from and --to')
  }
  await withSession(async (session) => {
    const accountId = await ownerOf(session, id)
    const row = (await openWebhooks(session).redeliver(accountId, id)) ?? unknown(id)
    const details = { new_delivery_id: row.id }
    await recordAct(session.sql, REDELIVER_ONE, { target: id, accountId }, details)
    showOne(row, options)
  })
}

async function resendDropped(options: ResendOptions): Promise<void> {
  const { from, to, account, host, dryRun = false, json } = options
  if (!from || !to) throw new OperatorError('name a delivery, or a time with --from and --to')
  await withSession(async (session) => {
    const filter = { from, to, accountId: account, host }
    const answer = await openWebhooks(session).redeliverDropped(filter, dryRun)
    const { redelivered, remaining } = answer
    if (!dryRun) {
      const subject = { target: host ?? account ?? '', ...(account ? { accountId: account } : {}) }
      await recordAct(session.sql, REDELIVER_ALL, subject, { from, to, host, redelivered })
    }
    if (json) return printJson(answer)
    if (dryRun) console.log(`${remaining} dropped deliveries would be sent again.`)
    else console.log(`${redelivered} are being sent again; ${remaining} remain.`)
  })
}
