/**
 * Applies planned prices of files and operators. Prices that a file planned earlier and no longer
 * names are withdrawn; prices planned by operators or other files are left alone.
 */
import { isDeepStrictEqual } from 'node:util'
import type { TransactionSql } from 'postgres'
import { inOrder, type PricePlan, pricePlanOf } from '../definition.ts'
import { type PlannedRow, savePrice, withdrawPrice } from '../store.ts'

export interface DesiredPlans {
  readonly modelId: string
  /** Null for a free model, which has no planned prices. */
  readonly currency: string | null
  readonly source: string
  readonly plans: readonly PricePlan[]
}

export interface PlanChange {
  readonly withdrawn: readonly PlannedRow[]
  readonly added: readonly PricePlan[]
  /** The plans of the model after the change, ordered by their start. */
  readonly after: readonly PricePlan[]
}

/** Returns the changes that make the planned prices of a model match `plans`. */
export function comparePlans(
  { currency, source, plans }: DesiredPlans,
  existing: readonly PlannedRow[],
): PlanChange {
  const isSame = (plan: PricePlan, row: PlannedRow) =>
    row.currency === currency && isAtOnce(plan, row) && isDeepStrictEqual(row.prices, plan.prices)
  const isReplaceable = (row: PlannedRow) =>
    row.source === source || row.currency !== currency || plans.some((plan) => isAtOnce(plan, row))
  const isDesired = (row: PlannedRow) => plans.some((plan) => isSame(plan, row))
  const isWithdrawn = (row: PlannedRow) => !isDesired(row) && isReplaceable(row)
  const added = plans.filter((plan) => !existing.some((row) => isSame(plan, row)))
  const kept = existing.filter((row) => !isWithdrawn(row)).map(pricePlanOf)
  return { withdrawn: existing.filter(isWithdrawn), added, after: inOrder([...kept, ...added]) }
}

export async function savePlans(
  sql: TransactionSql,
  { modelId, currency, source }: DesiredPlans,
  { withdrawn, added }: PlanChange,
): Promise<void> {
  for (const row of withdrawn) await withdrawPrice(sql, modelId, row.version)
  if (currency === null) return
  for (const { effective_from: from, prices } of added) {
    await savePrice(sql, { effectiveFrom: new Date(from), prices, modelId, currency, source })
  }
}

export function isAtOnce(plan: PricePlan, row: PlannedRow): boolean {
  return row.effective_from.toISOString() === plan.effective_from
}
