/** A budget: its scope, unit, period and use. */
import type {
  BUDGET_ACTIONS,
  BUDGET_PERIODS,
  BUDGET_SCOPES,
  BUDGET_UNITS,
} from '../../../base/lib/kinds-and-states.ts'
import { formatAmount } from '../../../base/lib/money.ts'

export type BudgetUnit = (typeof BUDGET_UNITS)[number]
export type SetBy = 'operator' | 'owner'

/** Everything about a budget that is chosen; `amount` is in nano-units of money, or a count. */
export interface BudgetTerms {
  readonly unit: BudgetUnit
  readonly amount: bigint
  readonly period: (typeof BUDGET_PERIODS)[number]
  readonly time_zone: string
  /** 1 is Monday. */
  readonly week_start: number
  /** Model ids; null means all. */
  readonly models: readonly string[] | null
  readonly action: (typeof BUDGET_ACTIONS)[number]
  /** Hundredths of the amount. */
  readonly thresholds: readonly number[]
  readonly end_users_max: number
}

/** The callers that are counted; `subject` is the id of a key or person, a tag, or empty. */
export interface BudgetScope {
  readonly scope: (typeof BUDGET_SCOPES)[number]
  readonly subject: string
}

/** Sums of the current window. */
export interface Use {
  readonly spent: bigint
  readonly held: bigint
}

export interface UserUse extends Use {
  /** The end user; null for calls that name none, `*` for all beyond the maximum number. */
  readonly end_user: string | null
}

export interface BudgetRow extends BudgetTerms, BudgetScope, Use {
  readonly id: string
  readonly account_id: string
  readonly set_by: SetBy
  readonly currency: string
  /** The person's address, the key's name; null for others. */
  readonly subject_name: string | null
  readonly window_start: Date
  /** Null for a budget that never resets. */
  readonly resets_at: Date | null
  readonly created_at: Date
  /** Counters in the current window. */
  readonly end_users: number
  /** The end users that spent the most, for a budget of each end user. */
  readonly top_users: readonly UserUse[]
}

/** Returns a decimal amount of money, or a whole number. */
export function formatQuantity(unit: BudgetUnit, quantity: bigint): string {
  return unit === 'money' ? formatAmount(quantity) : quantity.toString()
}

/** Returns what may still be spent or held, never below zero. */
export function remainingOf({ amount, spent, held }: Use & { readonly amount: bigint }): bigint {
  const left = amount - spent - held
  return left > 0n ? left : 0n
}
