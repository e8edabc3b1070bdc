/** `tributary account …`: accounts, their limits and balances. */

import { type Command, Option } from 'commander'
import type { Sql } from 'postgres'
import { formatAmount, type Nanos } from '../../../server/base/lib/money.ts'
import {
  type AccountRow,
  createAccount,
  listAccounts,
  mergeLimits,
  setAccountLimits,
  setAccountMedia,
  setAccountStatus,
  showAccount,
} from '../../../server/money/accounts/manage-accounts.ts'
import { listSoldCurrencies } from '../../../server/money/catalog/describe.ts'
import {
  addLimitOptions,
  describeLimits,
  type LimitOptions,
  limitsChange,
} from '../../lib/limits.ts'
import { type None, orNone, positiveAmount, whole } from '../../lib/parse.ts'
import { printFields, printJson, printTable, printTime } from '../../lib/print.ts'
import { actor, recordAct, withSession } from '../../lib/session.ts'
import { addPrices } from './account-prices.ts'
import { addSet } from './account-set.ts'

interface JsonOption {
  readonly json?: boolean
}

const CHANGE = 'PATCH /operator/accounts/:account_id'
const ofAccount = (id: string) => ({ target: id, accountId: id })

export function addAccountCommands(program: Command): void {
  const account = program.command('account').description('create, list, suspend and limit accounts')
  addCreate(account)
  account
    .command('list')
    .description('list all accounts with their balances')
    .option('--json', 'as JSON')
    .action((options: JsonOption) =>
      withSession(async ({ sql }) => list(await listAccounts(sql), options)),
    )
  account
    .command('show <account>')
    .description('show one account')
    .option('--json', 'as JSON')
    .action((id: string, options: JsonOption) =>
      withSession(async ({ sql }) => show(await showAccount(sql, id), options)),
    )
  addStatus(account, 'suspend', 'suspended', 'refuse all new calls of an account within 5 seconds')
  addStatus(account, 'resume', 'active', 'resume a suspended account')
  addSet(account, show)
  addPrices(account)
  addLimits(account)
  addMedia(account)
}

interface MediaOptions extends JsonOption {
  readonly storedGb?: number | None
  readonly prompts?: 'keep' | 'drop'
}

const GIGABYTE = 1_000_000_000

function addMedia(account: Command): void {
  account
    .command('media <account>')
    .description('set the storage limits of an account')
    .option('--stored-gb <n>', 'gigabytes, or none for the gateway’s limit', orNone(whole))
    .addOption(
      new Option('--prompts <what>', 'whether image prompts are stored in the gallery').choices([
        'keep',
        'drop',
      ]),
    )
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  tributary account media acct_… --stored-gb 100')
    .action((id: string, options: MediaOptions) =>
      withSession(async ({ sql }) => {
        const { storedGb, prompts } = options
        const bytes = storedGb === 'none' ? null : (storedGb ?? 0) * GIGABYTE
        const change = {
          ...(storedGb === undefined ? {} : { storedBytesMax: bytes }),
          ...(prompts === undefined ? {} : { keepsPrompts: prompts === 'keep' }),
        }
        const changed = await setAccountMedia(sql, id, change)
        await recordAct(sql, CHANGE, ofAccount(id), change)
        show(changed, options)
      }),
    )
}

interface CreateOptions extends JsonOption, LimitOptions {
  readonly name: string
  readonly balance?: Nanos
  readonly currency: string
  readonly priceList?: string
}

function addCreate(account: Command): void {
  const create = account
    .command('create')
    .description('create an account')
    .requiredOption('--name <name>', 'display name')
    .option('--balance <amount>', 'opening balance', positiveAmount)
    .option('--currency <code>', 'currency by its code of ISO 4217, such as USD', 'CNY')
    .option(
      '--price-list <list>',
      'price list of the account; without one, it pays the base prices',
    )
  addLimitOptions(create)
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  tributary account create --name "Acme" --balance 100')
    .action((options: CreateOptions) =>
      withSession(async ({ sql }) => {
        const { name, balance = 0n, currency, priceList } = options
        const limits = mergeLimits({}, limitsChange(options))
        const newAccount = {
          name,
          currency,
          openingBalanceNanos: balance,
          limits,
          ...(priceList === undefined ? {} : { priceList }),
          actor: actor(),
        }
        const created = await createAccount(sql, newAccount)
        const { id } = created
        await recordAct(sql, 'POST /operator/accounts', ofAccount(id), { account: id, name })
        await warnOfCurrency(sql, currency)
        await warnOfName(sql, created)
        show(created, options)
      }),
    )
}

/** An account in a currency in which no model is sold cannot call anything. */
async function warnOfCurrency(sql: Sql, currency: string): Promise<void> {
  const sold = await listSoldCurrencies(sql)
  if (sold.length === 0 || sold.includes(currency)) return
  console.error(`warning: no model is sold in ${currency} yet, only in ${sold.join(', ')}`)
}

/** Not refused: a customer who pays in two currencies has two accounts. */
async function warnOfName(sql: Sql, { id, name }: AccountRow): Promise<void> {
  const others = (await listAccounts(sql)).filter((one) => one.name === name && one.id !== id)
  if (others.length === 0) return
  const ids = others.map((one) => `${one.id} (${one.currency})`).join(', ')
  console.error(`warning: other accounts have this name: ${ids}`)
}

function addStatus(
  account: Command,
  name: string,
  status: AccountRow['status'],
  description: string,
): void {
  account
    .command(`${name} <account>`)
    .description(description)
    .option('--json', 'as JSON')
    .action((id: string, options: JsonOption) =>
      withSession(async ({ sql }) => {
        const changed = await setAccountStatus(sql, id, status)
        await recordAct(sql, `POST /operator/accounts/:account_id/${name}`, ofAccount(id))
        show(changed, options)
      }),
    )
}

function addLimits(account: Command): void {
  const limits = account
    .command('limits <account>')
    .description('set or remove the limits of an account')
  addLimitOptions(limits)
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  tributary account limits acct_… --concurrent-calls 9')
    .action((id: string, options: JsonOption & LimitOptions) =>
      withSession(async ({ sql }) => {
        const change = limitsChange(options)
        const changed = await setAccountLimits(sql, id, change)
        await recordAct(sql, CHANGE, ofAccount(id), { limits: change })
        show(changed, options)
      }),
    )
}

function list(rows: readonly AccountRow[], options: JsonOption) {
  if (options.json) return printJson(rows)
  printTable(
    rows,
    [
      { title: 'id', cell: ({ id }) => id },
      { title: 'name', cell: ({ name }) => name },
      { title: 'status', cell: ({ status }) => status },
      { title: 'available', cell: ({ available }) => formatAmount(available), right: true },
      { title: 'held', cell: ({ held }) => formatAmount(held), right: true },
      { title: 'debt', cell: ({ debt }) => formatAmount(debt), right: true },
      { title: '', cell: ({ currency }) => currency },
      { title: 'keys', cell: ({ keys }) => keys, right: true },
      { title: 'created', cell: (row) => printTime(row.created_at) },
    ],
    'There are no accounts yet: tributary account create --name … --balance …',
  )
}

function show(row: AccountRow, options: JsonOption) {
  if (options.json) return printJson(row)
  printFields({
    id: row.id,
    name: row.name,
    status: row.status,
    available: `${formatAmount(row.available)} ${row.currency}`,
    held: `${formatAmount(row.held)} ${row.currency}`,
    debt: row.debt > 0n ? `${formatAmount(row.debt)} ${row.currency}` : null,
    limits: describeLimits(row.limits),
    'price list': row.price_list,
    storage: row.stored_bytes_max === null ? null : `${row.stored_bytes_max / GIGABYTE} GB`,
    'low balance at': row.low_balance_at === null ? null : formatAmount(row.low_balance_at),
    'alert url': row.alert_url,
    'allowed from': row.allowed_ips.join(', ') || null,
    prompts: row.keeps_prompts ? null : 'not kept',
    keys: row.keys,
    created: printTime(row.created_at),
  })
}
