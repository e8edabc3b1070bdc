/** `tributary webhook …`: signing secrets, deliveries with their attempts, redelivery. */
import { type Command, Option } from 'commander'
import { openSecretBox } from '../../../server/config/secret-key-file.ts'
import { OperatorError } from '../../../server/lib/operator-error.ts'
import { createGuard } from '../../../server/outbound/guard.ts'
import type { WebhookSecret } from '../../../server/webhooks/secrets.ts'
import { accountOfDelivery, type DeliveryRow } from '../../../server/webhooks/store.ts'
import { createWebhooks } from '../../../server/webhooks/webhooks.ts'
import { whole } from '../../lib/parse.ts'
import { printFields, printJson, printTable, printTime } from '../../lib/print.ts'
import { type CommandSession, withSession } from '../../lib/session.ts'

const STATES = ['pending', 'delivered', 'dropped'] as const

interface JsonOption {
  readonly json?: boolean
}

interface AccountOption extends JsonOption {
  readonly account: string
}

interface ListOptions extends AccountOption {
  readonly limit: number
  readonly task?: string
  readonly status?: (typeof STATES)[number]
}

export function addWebhookCommands(program: Command): void {
  const webhook = program.command('webhook').description('manage webhook secrets and deliveries')
  addSecret(webhook, 'secret', "show the account's signing secret")
  addSecret(webhook, 'rotate', 'rotate the secret; the previous one keeps signing for 24 hours')
  addDeliveries(webhook)
  addShow(webhook)
  addRedeliver(webhook)
  addTest(webhook)
}

function open({ sql, config }: CommandSession) {
  return createWebhooks(sql, openSecretBox(config))
}

function addSecret(webhook: Command, name: 'secret' | 'rotate', description: string): void {
  webhook
    .command(name)
    .description(description)
    .requiredOption('--account <account>', 'account of the secret')
    .option('--json', 'as JSON')
    .action((options: AccountOption) =>
      withSession(async (session) => {
        showSecret(await open(session)[name](options.account), options)
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

function addDeliveries(webhook: Command): void {
  webhook
    .command('deliveries')
    .description('list the deliveries of an account, newest first')
    .requiredOption('--account <account>', 'account of the deliveries')
    .option('--task <task>', 'only this task')
    .addOption(new Option('--status <status>', 'only this status').choices(STATES))
    .option('--limit <n>', 'maximum number', whole, 20)
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Examples:
  tributary webhook deliveries --account acct_… --status dropped
  tributary webhook redeliver whd_…`,
    )
    .action((options: ListOptions) =>
      withSession(async (session) => {
        const { account: accountId, limit, task, status } = options
        const rows = await open(session).list({
          accountId,
          limit,
          ...(task ? { taskId: task } : {}),
          ...(status ? { state: status } : {}),
        })
        if (options.json) return printJson(rows)
        printDeliveries(rows)
      }),
    )
}

function printDeliveries(rows: readonly DeliveryRow[]): void {
  printTable(
    rows,
    [
      { title: 'delivery', cell: ({ id }) => id },
      { title: 'created', cell: ({ created_at: at }) => printTime(at) },
      { title: 'status', cell: ({ state }) => state },
      { title: 'attempts', cell: ({ attempts }) => attempts, right: true },
      { title: 'task', cell: ({ task_id: task }) => task ?? 'a test' },
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
        const row = await open(session).find(await ownerOf(session, id), id)
        showOne(row ?? unknown(id), options)
      }),
    )
}

function addRedeliver(webhook: Command): void {
  webhook
    .command('redeliver <delivery>')
    .description('send the same body to the same URL again, as a new delivery through a gateway')
    .option('--json', 'as JSON')
    .action((id: string, options: JsonOption) =>
      withSession(async (session) => {
        const row = await open(session).redeliver(await ownerOf(session, id), id)
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
        const webhooks = open(session)
        await webhooks.secret(options.account)
        const refusal = guardOf(session).readUrl(options.url)
        if (refusal !== undefined) throw new OperatorError(`the URL ${refusal}`)
        showOne(await webhooks.test(options.account, options.url), options)
      }),
    )
}

/** Allows loopback besides, since only the gateway knows whether it runs as a demo. */
function guardOf({ config }: CommandSession) {
  const ports = new Set(config.targetPorts)
  const allowance = config.allowPrivateTargets ? 'private' : 'loopback'
  return createGuard({ policy: () => ({ allowance, ports }) })
}

async function ownerOf({ sql }: CommandSession, id: string): Promise<string> {
  return (await accountOfDelivery(sql, id)) ?? unknown(id)
}

function unknown(id: string): never {
  throw new OperatorError(`there is no delivery ${id}`)
}

function showOne(row: DeliveryRow, { json }: JsonOption): void {
  if (json) {
    printJson(row)
    return
  }
  printFields({
    delivery: row.id,
    status: row.state,
    task: row.task_id,
    url: row.url,
    next: row.next_attempt_at && printTime(row.next_attempt_at),
  })
  for (const one of row.history) {
    const outcome = one.error ?? `${one.outcome ?? 'in progress'} ${one.status ?? ''}`.trim()
    console.log(`${one.number}. ${one.started_at}  ${outcome}  ${one.latency_ms ?? ''} ms`)
  }
}
