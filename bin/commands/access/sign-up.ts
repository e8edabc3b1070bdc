/** `tributary sign-up …`: who opened an account without an invitation, and how to stop abuse. */
import type { Command } from 'commander'
import { stopSignUps } from '../../../server/api/admin/people/sign-up/stop-sign-ups.ts'
import {
  type SignUpRow,
  selectSignUps,
} from '../../../server/api/sign-in/people/sign-up/sign-up-store.ts'
import { formatAmount } from '../../../server/base/lib/money.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { whole } from '../../lib/parse.ts'
import { printJson, printTable, printTime } from '../../lib/print.ts'
import { recordAct, withSession } from '../../lib/session.ts'

interface ListOptions {
  readonly search?: string
  readonly network?: string
  readonly limit: number
  readonly json?: boolean
}

interface StopOptions {
  readonly network?: string
  readonly json?: boolean
}

export function addSignUpCommands(program: Command): void {
  const signUp = program.command('sign-up').description('list and stop sign-ups')
  signUp
    .command('list')
    .description('list sign-ups, newest first')
    .option('--search <text>', 'part of the address or of the account’s id')
    .option('--network <network>', 'only those from this address, or /64 of IPv6')
    .option('--limit <count>', 'the most to show', whole, 100)
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  tributary sign-up list --search @example.com')
    .action(({ json, ...filter }: ListOptions) =>
      withSession(async ({ sql }) => show(await selectSignUps(sql, filter), json)),
    )
  signUp
    .command('stop [id]')
    .description('lock out the person who signed up, end their keys, and suspend the account')
    .option('--network <network>', 'all sign-ups from this network, instead of a single one')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
The network gets no grant for 30 days. \`tributary user enable\` and
\`tributary account resume\` undo it one by one.

Examples:
  tributary sign-up stop sup_…
  tributary sign-up stop --network 203.0.113.9`,
    )
    .action(stop)
}

async function stop(id: string | undefined, { network, json }: StopOptions): Promise<void> {
  const by = id === undefined ? network !== undefined && { network } : { id }
  if (!by || (id !== undefined && network !== undefined)) {
    throw new OperatorError('name one sign-up, or --network: tributary sign-up list shows both')
  }
  await withSession(async ({ sql }) => {
    const stopped = await stopSignUps(sql, by)
    if (stopped.length === 0) {
      throw new OperatorError(
        `no sign-up of ${id ?? network} could be stopped: tributary sign-up list`,
      )
    }
    for (const target of stopped) {
      await recordAct(sql, 'POST /operator/sign-ups/stop', { target }, by)
    }
    if (json) return printJson({ stopped })
    console.log(`stopped ${stopped.length}: ${stopped.join(', ')}`)
  })
}

function show(rows: readonly SignUpRow[], json = false) {
  if (json) return printJson(rows)
  printTable(
    rows,
    [
      { title: 'id', cell: ({ id }) => id },
      { title: 'address', cell: ({ email }) => email },
      { title: 'network', cell: ({ network }) => network },
      { title: 'confirmed by', cell: ({ provider_id: provider }) => provider ?? 'mail' },
      { title: 'account', cell: ({ account_id: account }) => account },
      {
        title: 'grant',
        cell: ({ granted, currency }) => `${formatAmount(granted)} ${currency}`,
        right: true,
      },
      { title: 'state', cell: ({ state }) => state },
      { title: 'created', cell: (row) => printTime(row.created_at) },
    ],
    'Nobody has signed up.',
  )
}
