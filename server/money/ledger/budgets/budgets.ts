/**
 * Creates, changes, lists and deletes budgets. Each change holds the lock of the account's balance,
 * so it applies from the next hold on every gateway.
 */
import type { Sql, TransactionSql } from 'postgres'
import { newId } from '../../../base/lib/ids.ts'
import { NANOS_MAX } from '../../../base/lib/money.ts'
import { OperatorError, refuseUnknownAccount } from '../../../base/lib/operator-error.ts'
import { readTimeZone } from '../../../base/lib/text/time-zone.ts'
import type { BudgetRow, BudgetScope, BudgetTerms, SetBy } from './budget.ts'
import {
  type BudgetFilter,
  deleteBudget,
  findCounter,
  findMember,
  insertBudget,
  isZone,
  lockBalance,
  selectBudgets,
  selectCallNames,
  selectCounted,
  updateBudget,
} from './budget-store.ts'

/** The most budgets that may apply to one call. */
const APPLY_MAX = 8
const PER_ACCOUNT_MAX = 2_000
const THRESHOLDS_MAX = 10
const THRESHOLD_MAX = 1_000
const DEFAULT_THRESHOLDS = [50, 80, 100]
const END_USERS_DEFAULT = 10_000
const END_USERS_MAX = 1_000_000

type Chosen = 'unit' | 'amount' | 'period'

/** Absent terms have a default. */
export type NewBudget = Pick<BudgetTerms, Chosen> &
  BudgetScope & {
    readonly [Term in Exclude<keyof BudgetTerms, Chosen>]?: BudgetTerms[Term] | undefined
  } & {
    readonly accountId: string
    readonly setBy: SetBy
  }

/** Throws OperatorError for impossible terms, and where a ninth budget would apply to a call. */
export async function addBudget(sql: Sql, budget: NewBudget): Promise<BudgetRow> {
  const terms = completeTerms(budget)
  checkTerms(terms)
  if (!(await isZone(sql, terms.time_zone))) throw unknownZone(terms.time_zone)
  const { accountId, setBy } = budget
  return await sql.begin(async (transaction) => {
    if (!(await lockBalance(transaction, accountId))) {
      refuseUnknownAccount(accountId)
    }
    const place = await findPlace(transaction, budget)
    await checkRoom(transaction, accountId, { ...place, models: terms.models })
    const id = newId('bud')
    await insertBudget(transaction, {
      ...terms,
      ...place,
      id,
      account_id: accountId,
      set_by: setBy,
    })
    return await showBudget(transaction, id)
  })
}

function completeTerms({ unit, amount, period, ...rest }: NewBudget): BudgetTerms {
  const forEach = rest.scope === 'end_user'
  const { time_zone: zone = 'UTC' } = rest
  return {
    unit,
    amount,
    period,
    time_zone: readTimeZone(zone) ?? zone,
    week_start: rest.week_start ?? 1,
    models: rest.models ?? null,
    action: rest.action ?? 'refuse',
    // With thousands of end users, there would be as many messages.
    thresholds: sorted(rest.thresholds ?? (forEach ? [] : DEFAULT_THRESHOLDS)),
    end_users_max: rest.end_users_max ?? END_USERS_DEFAULT,
  }
}

function sorted(thresholds: readonly number[]): number[] {
  return [...new Set(thresholds)].sort((a, b) => a - b)
}

function checkTerms(terms: BudgetTerms): void {
  const { amount, thresholds, week_start: weekStart, end_users_max: most, models } = terms
  if (amount < 0n || amount > NANOS_MAX / 2n) {
    throw new OperatorError('amount: from 0 to what a balance can hold')
  }
  const isThreshold = (part: number) => Number.isInteger(part) && part >= 1 && part <= THRESHOLD_MAX
  if (thresholds.length > THRESHOLDS_MAX || !thresholds.every(isThreshold)) {
    throw new OperatorError(
      `thresholds: at most ${THRESHOLDS_MAX} whole percentages from 1 to ${THRESHOLD_MAX}`,
    )
  }
  if (![1, 2, 3, 4, 5, 6, 7].includes(weekStart)) {
    throw new OperatorError('week_start: from 1 for Monday to 7 for Sunday')
  }
  if (!Number.isInteger(most) || most < 1 || most > END_USERS_MAX) {
    throw new OperatorError(`max_end_users: from 1 to ${END_USERS_MAX}`)
  }
  if (models?.length === 0) throw new OperatorError('models: name one, or omit them for all')
}

function unknownZone(zone: string): OperatorError {
  return new OperatorError(
    `time_zone: ${zone} is not a time zone: write a name such as Asia/Shanghai, or UTC`,
  )
}

function withoutSubject(scope: 'account' | 'end_user'): OperatorError {
  const who = scope === 'account' ? 'the whole account' : 'each end user'
  return new OperatorError(
    `subject: a budget of ${who} has none: omit it, or set scope to key, member or tag`,
  )
}

interface Place extends BudgetScope {
  /** See budget_names in budgets.sql. */
  readonly counted_under: string
}

/** Finds the subject of the budget. Throws OperatorError if it does not exist. */
async function findPlace(transaction: TransactionSql, budget: NewBudget): Promise<Place> {
  const { accountId, scope, subject } = budget
  if (scope === 'account' || scope === 'end_user') {
    if (subject !== '') throw withoutSubject(scope)
    return { scope, subject: '', counted_under: scope }
  }
  if (scope === 'key') {
    const counter = await findCounter(transaction, accountId, subject)
    if (!counter) throw new OperatorError(`account ${accountId} has no key ${subject}`)
    return { scope, subject, counted_under: `key:${counter}` }
  }
  if (scope === 'member') {
    const member = await findMember(transaction, accountId, subject)
    if (!member) throw new OperatorError(`account ${accountId} has no member ${subject}`)
    return { scope, subject: member, counted_under: `member:${member}` }
  }
  const name = `tag:${subject}`
  const names = await selectCallNames(transaction, accountId)
  if (!names.some((of) => of.includes(name))) {
    throw new OperatorError(
      `tag: no key of account ${accountId} has the tag ${subject}, so that callers could leave ` +
        'it away: give it to a key as a tag or a required tag first',
    )
  }
  return { scope, subject, counted_under: name }
}

/** Throws OperatorError if too many budgets would apply to one call. */
async function checkRoom(
  transaction: TransactionSql,
  accountId: string,
  added: Pick<Place, 'counted_under'> & Pick<BudgetTerms, 'models'>,
): Promise<void> {
  const existing = await selectCounted(transaction, accountId)
  if (existing.length >= PER_ACCOUNT_MAX) {
    throw new OperatorError(`an account has at most ${PER_ACCOUNT_MAX} budgets: delete one first`)
  }
  const callers = await selectCallNames(transaction, accountId)
  // Includes calls of keys that do not exist yet.
  for (const names of [...callers, ['account', 'end_user']]) {
    if (!names.includes(added.counted_under)) continue
    const applying = existing.filter((budget) => names.includes(budget.counted_under))
    const models = added.models ?? [
      ...new Set(applying.flatMap((budget) => budget.models ?? [])),
      '',
    ]
    for (const model of models) {
      const together = applying.filter((budget) => budget.models?.includes(model) ?? true)
      if (together.length < APPLY_MAX) continue
      const ids = together.map(({ id }) => id).join(', ')
      throw new OperatorError(
        `at most ${APPLY_MAX} budgets apply to one call: delete one of ${ids} first`,
      )
    }
  }
}

/** Absent members stay unchanged. */
export type BudgetChange = Partial<Pick<BudgetTerms, 'amount' | 'action' | 'thresholds'>>

/** Changes a budget. Throws OperatorError if an owner would change that of an operator. */
export async function changeBudget(
  sql: Sql,
  id: string,
  { change, setBy }: { readonly change: BudgetChange; readonly setBy: SetBy },
): Promise<BudgetRow> {
  return await withBudget(sql, { id, setBy }, async (transaction, budget) => {
    const changed = { ...budget, ...change }
    checkTerms(changed)
    await updateBudget(transaction, id, { ...changed, thresholds: sorted(changed.thresholds) })
    return await showBudget(transaction, id)
  })
}

/** Deletes a budget with its counters; returns what it was. */
export function removeBudget(sql: Sql, id: string, setBy: SetBy): Promise<BudgetRow> {
  return withBudget(sql, { id, setBy }, async (transaction, budget) => {
    await deleteBudget(transaction, budget)
    return budget
  })
}

async function withBudget<T>(
  sql: Sql,
  { id, setBy }: { readonly id: string; readonly setBy: SetBy },
  work: (transaction: TransactionSql, budget: BudgetRow) => Promise<T>,
): Promise<T> {
  const { account_id: accountId } = await showBudget(sql, id)
  const result = await sql.begin(async (transaction) => {
    await lockBalance(transaction, accountId)
    const budget = await showBudget(transaction, id)
    if (setBy === 'owner' && budget.set_by === 'operator') {
      throw new OperatorError('an operator set this budget: only operators can change it')
    }
    return { value: await work(transaction, budget) }
  })
  return result.value
}

export async function showBudget(sql: Sql | TransactionSql, id: string): Promise<BudgetRow> {
  const [row] = await selectBudgets(sql, { id })
  if (!row) throw new OperatorError(`there is no budget ${id}`)
  return row
}

export function listBudgets(sql: Sql, filter: BudgetFilter): Promise<BudgetRow[]> {
  return selectBudgets(sql, filter)
}
