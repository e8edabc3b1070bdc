/** Shared by tests of budgets: a budget, and what its counters say. */
import type { Sql } from 'postgres'
import type { BudgetScope, BudgetTerms } from '../../../server/money/ledger/budgets/budget.ts'
import { addBudget, showBudget } from '../../../server/money/ledger/budgets/budgets.ts'

/** Creates a budget of money of the account for a month, unless `terms` say otherwise. */
export function giveBudget(
  sql: Sql,
  accountId: string,
  amount: bigint,
  terms: Partial<BudgetTerms & BudgetScope> = {},
) {
  return addBudget(sql, {
    unit: 'money',
    period: 'month',
    scope: 'account',
    subject: '',
    ...terms,
    accountId,
    amount,
    setBy: 'operator',
  })
}

/** Returns what is spent and held in the current window. */
export async function readUse(sql: Sql, id: string): Promise<string> {
  const { spent, held } = await showBudget(sql, id)
  return `${spent}+${held}`
}

/** Sets the clock of budgets, which stands still. */
export async function setBudgetClock(sql: Sql, at: string): Promise<void> {
  await sql.unsafe(
    `create or replace function budget_clock() returns timestamptz language sql volatile
     as $$ select timestamptz '${at}' $$`,
  )
}
