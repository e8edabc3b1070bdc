/** `tributary budget …`: what may be spent within a day, week, month or ever. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Sql } from 'postgres'
import {
  BUDGET_ACTIONS,
  BUDGET_PERIODS,
  BUDGET_UNITS,
} from '../../../server/base/lib/kinds-and-states.ts'
import { parseAmount } from '../../../server/base/lib/money.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { showAccount } from '../../../server/money/accounts/manage-accounts.ts'
import {
  type BudgetRow,
  type BudgetScope,
  type BudgetTerms,
  type BudgetUnit,
  formatQuantity,
} from '../../../server/money/ledger/budgets/budget.ts'
import {
  addBudget,
  changeBudget,
  listBudgets,
  type NewBudget,
  removeBudget,
} from '../../../server/money/ledger/budgets/budgets.ts'
import {
  type DescribedBudget,
  describeBudget,
} from '../../../server/money/ledger/budgets/describe.ts'
import { listSpendLimits } from '../../../server/money/ledger/budgets/spend-limits.ts'
import { refuseUnknownModels } from '../../lib/known-models.ts'
import { list, positiveAmount, whole } from '../../lib/parse.ts'
import { printFields, printJson, printTable, printTime } from '../../lib/print.ts'
import { recordAct, withSession } from '../../lib/session.ts'

const PATH = '/accounts/:account_id/budgets'

interface JsonOption {
  readonly json?: boolean
}

interface CreateOptions extends JsonOption {
  readonly account: string
  readonly key?: string
  readonly member?: string
  readonly tag?: string
  readonly eachEndUser?: boolean
  readonly maxEndUsers?: number
  readonly amount: string
  readonly unit: BudgetUnit
  readonly period: BudgetTerms['period']
  readonly timeZone?: string
  readonly weekStart?: number
  readonly models?: string[]
  readonly action: BudgetTerms['action']
  readonly thresholds?: number[]
}

interface SetOptions extends JsonOption {
  readonly amount?: string
  readonly action?: BudgetTerms['action']
  readonly thresholds?: number[]
}

export function addBudgetCommands(program: Command): void {
  const budget = program
    .command('budget')
    .description('limit what may be spent within a day, week, month or ever')
  addCreate(budget)
  addList(budget)
  addSet(budget)
  addDelete(budget)
}

const COUNT = /^\d{1,18}$/

/** Accepts an amount of any unit: counts of tokens are longer than amounts of money. */
function quantity(text: string): string {
  if (!COUNT.test(text)) positiveAmount(text)
  return text
}

/** Reads an amount as it was typed: money has nine decimals, counts have none. */
function toQuantity(unit: BudgetUnit, text: string): bigint {
  if (unit !== 'money') {
    if (COUNT.test(text)) return BigInt(text)
    throw new OperatorError(`--amount: a number of ${unit.replace('_', ' ')}s is a whole number`)
  }
  const amount = parseAmount(text)
  if (amount !== undefined) return amount
  throw new OperatorError('--amount: money has at most nine digits before the point')
}

/** An option that would be ignored is a mistake. */
function refuseIdle({ maxEndUsers, eachEndUser, weekStart, period }: CreateOptions): void {
  if (maxEndUsers !== undefined && !eachEndUser) {
    throw new OperatorError('--max-end-users: only with --each-end-user')
  }
  if (weekStart !== undefined && period !== 'week') {
    throw new OperatorError('--week-start: only with --period week')
  }
}

/** Reads percentages, or `none`. */
function percentages(text: string): number[] {
  return text === 'none' ? [] : list(text).map(whole)
}

function weekday(text: string): number {
  const day = whole(text)
  if (day > 7) throw new InvalidArgumentError('Write 1 for Monday to 7 for Sunday.')
  return day
}

function addScopeOptions(create: Command): Command {
  return create
    .addOption(
      new Option('--key <key>', 'only calls of this key and of its rotations').conflicts([
        'member',
        'tag',
        'eachEndUser',
      ]),
    )
    .addOption(
      new Option('--member <email>', 'only calls of the keys of this member').conflicts([
        'tag',
        'eachEndUser',
      ]),
    )
    .addOption(
      new Option('--tag <tag>', 'only calls with this tag, which a key sets or requires').conflicts(
        'eachEndUser',
      ),
    )
    .option('--each-end-user', 'a separate amount for each end user named by calls')
    .option('--max-end-users <n>', 'end users with a budget of their own (default 10000)', whole)
}

function addTermOptions(create: Command): Command {
  return create
    .requiredOption('--amount <amount>', 'an amount of money, or a whole number', quantity)
    .addOption(
      new Option('--unit <unit>', 'what is counted').choices(BUDGET_UNITS).default('money'),
    )
    .addOption(
      new Option('--period <period>', 'when it starts over')
        .choices(BUDGET_PERIODS)
        .makeOptionMandatory(),
    )
    .option('--time-zone <zone>', 'where its days begin, such as Asia/Shanghai (default UTC)')
    .option('--week-start <day>', '1 for Monday, the default, to 7 for Sunday', weekday)
    .option('--models <ids>', 'only calls of these models, such as a,b', list)
    .addOption(
      new Option('--action <action>', 'what happens beyond it')
        .choices(BUDGET_ACTIONS)
        .default('refuse'),
    )
    .option(
      '--thresholds <percent>',
      'percentages that send an alert, or none (default 50,80,100; none for each end user)',
      percentages,
    )
}

function addCreate(budget: Command): void {
  const create = budget
    .command('create')
    .description('create a budget of an account, or of a part of its calls')
    .requiredOption('--account <account>', 'account whose calls it counts')
  addTermOptions(addScopeOptions(create))
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Examples:
  tributary budget create --account acct_… --amount 500 --period month
  tributary budget create --account acct_… --key key_… --amount 5 --period day \\
    --time-zone Asia/Shanghai
  tributary budget create --account acct_… --each-end-user --unit call \\
    --amount 100 --period day`,
    )
    .action((options: CreateOptions) =>
      withSession(async ({ sql }) => {
        refuseIdle(options)
        await refuseUnknownModels(sql, options.models)
        const created = await addBudget(sql, toBudget(options))
        const { id, account_id: accountId } = created
        await recordAct(sql, `POST ${PATH}`, { target: accountId, accountId }, { budget_id: id })
        show(created, options)
      }),
    )
}

function toBudget(options: CreateOptions): NewBudget {
  const { account: accountId, unit, amount, period, action } = options
  return {
    accountId,
    setBy: 'operator',
    ...scopeOf(options),
    unit,
    amount: toQuantity(unit, amount),
    period,
    action,
    time_zone: options.timeZone,
    week_start: options.weekStart,
    models: options.models,
    thresholds: options.thresholds,
    end_users_max: options.maxEndUsers,
  }
}

function scopeOf({ key, member, tag, eachEndUser }: CreateOptions): BudgetScope {
  if (key !== undefined) return { scope: 'key', subject: key }
  if (member !== undefined) return { scope: 'member', subject: member }
  if (tag !== undefined) return { scope: 'tag', subject: tag }
  return { scope: eachEndUser ? 'end_user' : 'account', subject: '' }
}

function addList(budget: Command): void {
  budget
    .command('list')
    .description('list the budgets of an account with what is spent of them')
    .requiredOption('--account <account>', 'account of the budgets')
    .option('--json', 'as JSON')
    .action((options: JsonOption & { readonly account: string }) =>
      withSession(async ({ sql }) => {
        const { account: accountId } = options
        await showAccount(sql, accountId)
        const budgets = (await listBudgets(sql, { accountId })).map(describeBudget)
        const rows = [...budgets, ...(await listSpendLimits(sql, accountId))]
        if (options.json) printJson(rows)
        else printBudgets(rows)
      }),
    )
}

function addSet(budget: Command): void {
  budget
    .command('set <budget>')
    .description('change a budget; it applies from the next call, on every gateway')
    .option('--amount <amount>', 'an amount of money, or a whole number', quantity)
    .addOption(new Option('--action <action>', 'what happens beyond it').choices(BUDGET_ACTIONS))
    .option('--thresholds <percent>', 'percentages that send an alert, or none', percentages)
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  tributary budget set bud_… --amount 7')
    .action((id: string, options: SetOptions) =>
      withSession(async ({ sql }) => {
        const { amount, action, thresholds } = options
        if (amount === undefined && action === undefined && thresholds === undefined) {
          throw new OperatorError('nothing to change: add --amount, --action or --thresholds')
        }
        const { unit } = await findBudget(sql, id)
        const changed = await changeBudget(sql, id, {
          setBy: 'operator',
          change: {
            ...(amount === undefined ? {} : { amount: toQuantity(unit, amount) }),
            ...(action === undefined ? {} : { action }),
            ...(thresholds === undefined ? {} : { thresholds }),
          },
        })
        const { account_id: accountId } = changed
        await recordAct(sql, `PATCH ${PATH}/:budget_id`, { target: id, accountId })
        show(changed, options)
      }),
    )
}

async function findBudget(sql: Sql, id: string): Promise<BudgetRow> {
  const [found] = await listBudgets(sql, { id })
  if (found) return found
  const hint = id.startsWith('key_') ? `: tributary key update ${id} --spend-limit …` : ''
  throw new OperatorError(`there is no budget ${id}${hint}`)
}

function addDelete(budget: Command): void {
  budget
    .command('delete <budget>')
    .description('delete a budget and what it has counted')
    .option('--json', 'as JSON')
    .action((id: string, options: JsonOption) =>
      withSession(async ({ sql }) => {
        const deleted = await removeBudget(sql, id, 'operator')
        const { account_id: accountId } = deleted
        await recordAct(sql, `DELETE ${PATH}/:budget_id`, { target: id, accountId })
        if (options.json) printJson({ id, deleted: true })
        else console.log(`Deleted ${id}.`)
      }),
    )
}

function show(row: BudgetRow, { json }: JsonOption) {
  const budget = describeBudget(row)
  if (json) return printJson(budget)
  printFields({
    id: budget.id,
    counts: describeScope(budget),
    models: row.models?.join(', ') ?? 'all',
    amount: `${formatQuantity(row.unit, row.amount)} ${unitOf(budget)} ${PER[row.period]}`,
    'time zone': row.time_zone,
    beyond: row.action,
    spent: budget.spent,
    'on hold': budget.held,
    left: budget.remaining,
    resets: row.resets_at && `${printTime(row.resets_at)} UTC`,
  })
}

function printBudgets(rows: readonly DescribedBudget[]): void {
  printTable(
    rows,
    [
      { title: 'id', cell: ({ id }) => id },
      { title: 'counts', cell: describeScope },
      { title: 'models', cell: ({ models }) => models?.join(', ') ?? 'all' },
      { title: 'spent', cell: ({ spent }) => spent, right: true },
      { title: 'on hold', cell: ({ held }) => held, right: true },
      { title: 'left', cell: ({ remaining }) => remaining ?? '', right: true },
      { title: 'of', cell: (row) => `${row.amount} ${unitOf(row)}`, right: true },
      { title: 'period', cell: ({ period }) => period },
      { title: 'beyond', cell: ({ action }) => action },
      { title: 'resets', cell: describeReset },
    ],
    'This account has no budgets yet: tributary budget create --account …',
  )
}

const PER = { day: 'a day', week: 'a week', month: 'a month', total: 'in total' } as const

function describeReset({ resets_at: at }: DescribedBudget): string {
  return at === null ? '' : printTime(new Date(at))
}

function unitOf({ unit, currency }: Pick<DescribedBudget, 'unit' | 'currency'>): string {
  return unit === 'money' ? currency : `${unit.replace('_', ' ')}s`
}

function describeScope({ scope, subject, subject_name: name }: DescribedBudget): string {
  if (scope === 'end_user') return 'each end user'
  return subject === null ? scope : `${scope} ${name || subject}`
}
