/** `tributary usage …`: usage records, as callers see them. */
import { type Command, Option } from 'commander'
import { ENDED_STATUSES } from '../../../server/base/lib/kinds-and-states.ts'
import { formatAmount } from '../../../server/base/lib/money.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { accountOfRequest } from '../../../server/money/accounts/account-store.ts'
import { showAccount } from '../../../server/money/accounts/manage-accounts.ts'
import {
  findUsage,
  isUsageArchived,
  listEntries,
  selectUsage,
  type UsageSummary,
} from '../../../server/money/usage/store.ts'
import { parsePastOption, whole } from '../../lib/parse.ts'
import { printFields, printJson, printTable, printTime } from '../../lib/print.ts'
import { describeBasis, printAttempts, printLines } from '../../lib/print-usage.ts'
import { withSession } from '../../lib/session.ts'

interface ListOptions {
  readonly account: string
  readonly limit: number
  readonly from?: Date
  readonly to?: Date
  readonly model?: string
  readonly endpoint?: string
  readonly key?: string
  readonly status?: UsageSummary['status']
  readonly json?: boolean
}

const STATUSES: readonly UsageSummary['status'][] = ['running', ...ENDED_STATUSES]

export function addUsageCommands(program: Command): void {
  const usage = program.command('usage').description('list and show usage records')
  usage
    .command('list')
    .description('list the records of an account, newest first')
    .requiredOption('--account <account>', 'account of the calls')
    .option('--limit <n>', 'maximum number of records', whole, 50)
    .option('--from <time>', 'only calls since this time', parsePastOption)
    .option('--to <time>', 'only calls before this time', parsePastOption)
    .option('--model <id>', 'only this model')
    .option('--endpoint <name>', 'only this endpoint')
    .option('--key <id>', 'only this key')
    .addOption(
      new Option('--status <status>', 'only this status; running: calls that hold money').choices(
        STATUSES,
      ),
    )
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  tributary usage list --account acct_… --from 2030-01-01\n' +
        '  tributary usage list --account acct_… --from 7d',
    )
    .action(list)
  usage
    .command('show <request>')
    .description('explain the charge of one call: its lines, attempts and ledger entries')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  tributary usage show req_…')
    .action(show)
}

async function list(options: ListOptions): Promise<void> {
  const { account, key, limit, from, to, model, endpoint, status } = options
  const rows = await withSession(async ({ sql }) => {
    const { id: accountId } = await showAccount(sql, account)
    return await selectUsage(sql, {
      accountId,
      limit,
      ...(from ? { from } : {}),
      ...(to ? { to } : {}),
      ...(model ? { model } : {}),
      ...(endpoint ? { endpoint } : {}),
      ...(key ? { keyIds: [key] } : {}),
      ...(status ? { status } : {}),
    })
  })
  if (options.json) return printJson(rows.map(publicRow))
  printTable(
    rows,
    [
      { title: 'request', cell: (row) => row.request_id },
      { title: 'time', cell: (row) => printTime(row.created_at) },
      { title: 'endpoint', cell: ({ endpoint: name }) => name },
      { title: 'model', cell: ({ model: name }) => name },
      { title: 'status', cell: ({ status }) => status },
      { title: 'held', cell: ({ held }) => formatAmount(held), right: true },
      { title: 'charged', cell: ({ charged }) => formatAmount(charged), right: true },
      { title: '', cell: ({ currency }) => currency },
      { title: 'basis', cell: ({ basis, review }) => `${basis ?? ''}${review ? ' (review)' : ''}` },
    ],
    'There are no records.',
  )
}

/** A price version is a number, not an amount. */
function publicRow<Row extends UsageSummary>(row: Row) {
  return { ...row, price_version: row.price_version?.toString() ?? null }
}

async function show(requestId: string, options: { readonly json?: boolean }): Promise<void> {
  const { row, entries } = await withSession(async ({ sql }) => {
    const accountId = await accountOfRequest(sql, requestId)
    const found = accountId && (await findUsage(sql, accountId, requestId))
    if (!found && (await isUsageArchived(sql, requestId))) {
      throw new OperatorError(
        `the calls of the time of ${requestId} are archived: tributary archive show ${requestId}`,
      )
    }
    if (!accountId || !found) throw new OperatorError(`there is no call ${requestId}`)
    return { row: found, entries: await listEntries(sql, accountId, found.hold_id) }
  })
  if (options.json) return printJson({ ...publicRow(row), ledger: entries })
  printFields({
    request: row.request_id,
    time: printTime(row.created_at),
    endpoint: row.endpoint,
    model: row.model,
    key: row.key_id,
    status: row.status,
    error: row.error,
    held: `${formatAmount(row.held)} ${row.currency}`,
    charged: `${formatAmount(row.charged)} ${row.currency}`,
    returned: `${formatAmount(row.returned)} ${row.currency}`,
    debt: row.debt > 0n ? `${formatAmount(row.debt)} ${row.currency}` : null,
    basis: describeBasis(row),
    'price list': row.price_list,
    'price version': row.price_version?.toString() ?? null,
    'at base prices':
      row.list_amount === null ? null : `${formatAmount(row.list_amount)} ${row.currency}`,
  })
  printLines(row)
  printAttempts(row)
  console.log()
  printTable(
    entries,
    [
      { title: 'ledger', cell: ({ step }) => step },
      { title: 'from', cell: ({ source }) => source },
      { title: 'to', cell: ({ destination }) => destination },
      { title: 'amount', cell: ({ amount }) => formatAmount(amount), right: true },
      { title: 'time', cell: ({ at }) => printTime(at) },
    ],
    'No money moved.',
  )
}
