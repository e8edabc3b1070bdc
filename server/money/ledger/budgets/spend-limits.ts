/** Spend limits of keys, shown as budgets that never reset. */
import type { Sql } from 'postgres'
import { selectSpendLimits, type UseFilter } from './budget-store.ts'
import { type DescribedBudget, describeBudget } from './describe.ts'

/** Lists them as budgets whose id is that of the key, where they are changed. */
export async function listSpendLimits(
  sql: Sql,
  accountId: string,
  filter: UseFilter = {},
): Promise<DescribedBudget[]> {
  const rows = await selectSpendLimits(sql, accountId, filter)
  return rows.map((row) =>
    describeBudget({
      id: row.id,
      account_id: accountId,
      scope: 'key',
      subject: row.id,
      subject_name: row.name,
      unit: 'money',
      amount: row.spend_limit,
      spent: row.spent,
      held: row.held,
      currency: row.currency,
      period: 'total',
      time_zone: 'UTC',
      week_start: 1,
      models: null,
      action: 'refuse',
      thresholds: [],
      end_users_max: 1,
      end_users: 0,
      top_users: [],
      set_by: 'operator',
      window_start: row.created_at,
      resets_at: null,
      created_at: row.created_at,
    }),
  )
}
