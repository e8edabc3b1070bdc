/** Budgets as commands and the admin API show them: amounts are decimal strings. */
import {
  type BudgetRow,
  type BudgetScope,
  type BudgetUnit,
  formatQuantity,
  remainingOf,
  type SetBy,
} from './budget.ts'

export interface DescribedBudget {
  readonly id: string
  readonly scope: BudgetScope['scope']
  /** The key, person or tag. */
  readonly subject: string | null
  readonly subject_name: string | null
  readonly unit: BudgetUnit
  readonly currency: string
  readonly amount: string
  readonly period: BudgetRow['period']
  readonly time_zone: string
  readonly week_start: number
  readonly models: readonly string[] | null
  readonly action: BudgetRow['action']
  readonly thresholds: readonly number[]
  readonly set_by: SetBy
  readonly window_start: string
  readonly resets_at: string | null
  readonly spent: string
  readonly held: string
  /** Null where each end user has the amount. */
  readonly remaining: string | null
  readonly end_users: readonly DescribedUser[] | null
  readonly end_users_counted: number | null
  readonly max_end_users: number | null
  readonly created_at: string
}

export interface DescribedUser {
  readonly end_user: string | null
  readonly spent: string
  readonly held: string
  readonly remaining: string
}

export function describeBudget(row: BudgetRow): DescribedBudget {
  const { unit, amount, spent, held, scope, subject } = row
  const isForEach = scope === 'end_user'
  const format = (quantity: bigint) => formatQuantity(unit, quantity)
  return {
    id: row.id,
    scope,
    // Scripts name a member by the address.
    subject: (scope === 'member' && row.subject_name) || subject || null,
    subject_name: row.subject_name,
    unit,
    currency: row.currency,
    amount: format(amount),
    period: row.period,
    time_zone: row.time_zone,
    week_start: row.week_start,
    models: row.models,
    action: row.action,
    thresholds: row.thresholds,
    set_by: row.set_by,
    window_start: row.window_start.toISOString(),
    resets_at: row.resets_at?.toISOString() ?? null,
    spent: format(spent),
    held: format(held),
    remaining: isForEach ? null : format(remainingOf(row)),
    end_users: isForEach
      ? row.top_users.map((user) => ({
          end_user: user.end_user,
          spent: format(user.spent),
          held: format(user.held),
          remaining: format(remainingOf({ amount, ...user })),
        }))
      : null,
    end_users_counted: isForEach ? row.end_users : null,
    max_end_users: isForEach ? row.end_users_max : null,
    created_at: row.created_at.toISOString(),
  }
}
