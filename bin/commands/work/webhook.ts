/** `tributary webhook …`: signing secrets, deliveries with their attempts, redelivery. */

import { type Command, Option } from 'commander'
import { DELIVERY_STATES } from '../../../server/base/lib/kinds-and-states.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { createGuard } from '../../../server/base/outbound/guard.ts'
import type { WebhookSecret } from '../../../server/work/webhooks/secrets.ts'
import type { DeliveryRow } from '../../../server/work/webhooks/store.ts'
import { parsePastOption, whole } from '../../lib/parse.ts'
import { printFields, printJson, printTable, printTime } from '../../lib/print.ts'
import { type CommandSession, withSession } from '../../lib/session.ts'
import { addResendCommand } from './resend.ts'
import {
  describeTask,
  type JsonOption,
  openWebhooks,
  ownerOf,
  showOne,
  unknown,
} from './show-delivery.ts'

interface AccountOption extends JsonOption {
  readonly account: string
}

interface ListOptions extends JsonOption {
  readonly account?: string
  readonly limit: number
  readonly task?: string
  readonly status?: (typeof DELIVERY_STATES)[number]
  readonly host?: string
  readonly from?: Date
  readonly to?: Date
  readonly after?: string
}

export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('manage webhook secrets and deliveries')
  addSecret(webhook, 'secret', "show the account's signing secret")
  addSecret(webhook, 'rotate', 'rotate the secret; the previous one keeps signing for 24 hours')
  addList(webhook)
  addShow(webhook)
  addResendCommand(webhook)
  addTest(webhook)
}

function addSecret(webhook: Command, name: 'secret' | 'rotate', description: string): void {
  webhook
    .command(name)
    .description(description)
    .requiredOption('--account <account>', 'account of the secret')
    .option('--json', 'as JSON')
    .action((options: AccountOption) =>
      withSession(async (session) => {
        showSecret(await openWebhooks(session)[name](options.account), options)
      }),
    )
}

function showSecret(secret: WebhookSecret, options: AccountOption): void {
  const { current, previousUntil } = secret
  if (options.json) {
    const until = previousUntil?.toISOString() ?? null
    printJson({ account_id: options.account, secret: current, previous_valid_until: until })
    return
  }
  printFields({
    secret: current,
    'previous secret': previousUntil && `signs until ${printTime(previousUntil)} UTC`,
  })
}

function addList(webhook: Command): void {
  webhook
    .command('list')
    .alias('deliveries')
    .description('list deliveries, newest first; of all accounts unless one is named')
    .option('--account <account>', 'only this account')
    .option('--task <task>', 'only this task')
    .addOption(new Option('--status <status>', 'only this status').choices(DELIVERY_STATES))
    .option('--host <host>', 'only this receiver, with or without its port')
    .option('--from <time>', 'created at or after', parsePastOption)
    .option('--to <time>', 'created before', parsePastOption)
    .option('--after <delivery>', 'the page after this delivery')
    .option('--limit <n>', 'maximum number', whole, 20)
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Examples:
  tributary webhook list --status dropped
  tributary webhook list --account acct_… --host example.com --from 2030-01-01
  tributary webhook resend whd_…`,
    )
    .action((options: ListOptions) =>
      withSession(async (session) => {
        const { account, task, status, json, ...rest } = options
        const filter = { ...rest, accountId: account, taskId: task, state: status }
        const rows = await openWebhooks(session).list(filter)
        if (json) return printJson(rows)
        printDeliveries(rows)
        if (rows.length === options.limit) {
          console.error(`There may be more: --after ${rows.at(-1)?.id}`)
        }
      }),
    )
}

function printDeliveries(rows: readonly DeliveryRow[]): void {
  printTable(
    rows,
    [
      { title: 'delivery', cell: ({ id }) => id },
      { title: 'account', cell: ({ account_id: account }) => account },
      { title: 'created', cell: ({ created_at: at }) => printTime(at) },
      { title: 'status', cell: ({ state }) => state },
      { title: 'attempts', cell: ({ attempts }) => attempts, right: true },
      { title: 'task', cell: describeTask },
      { title: 'last', cell: ({ history }) => describeLast(history) },
      { title: 'url', cell: ({ url }) => url },
    ],
    'There are no deliveries.',
  )
}

function describeLast(history: DeliveryRow['history']): string {
  const last = history.at(-1)
  if (!last) return ''
  return last.error ?? (last.outcome === null ? 'in progress' : `${last.status}`)
}

function addShow(webhook: Command): void {
  webhook
    .command('show <delivery>')
    .description('show one delivery with its attempts')
    .option('--json', 'as JSON')
    .action((id: string, options: JsonOption) =>
      withSession(async (session) => {
        const row = await openWebhooks(session).find(await ownerOf(session, id), id)
        showOne(row ?? unknown(id), options)
      }),
    )
}

function addTest(webhook: Command): void {
  webhook
    .command('test')
    .description('send a test webhook to any URL through a gateway')
    .requiredOption('--account <account>', 'account whose secret signs it')
    .requiredOption('--url <url>', 'receiver’s URL')
    .option('--json', 'as JSON')
    .action((options: AccountOption & { readonly url: string }) =>
      withSession(async (session) => {
        const webhooks = openWebhooks(session)
        await webhooks.secret(options.account)
        const refusal = guardOf(session).readUrl(options.url)
        if (refusal !== undefined) throw new OperatorError(`the URL ${refusal}`)
        showOne(await webhooks.test(options.account, options.url), options)
      }),
    )
}

/** Also allows loopback, since only the gateway knows whether it runs as a demo. */
function guardOf({ config }: CommandSession) {
  const ports = new Set(config.targetPorts)
  const allowance = config.allowPrivateTargets ? 'private' : 'loopback'
  return createGuard({ policy: () => ({ allowance, ports }) })
}
