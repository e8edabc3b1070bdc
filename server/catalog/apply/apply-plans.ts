/**
 * Applies planned prices of files and operators. Prices that a file planned earlier and no longer
 * names are withdrawn; prices planned by operators or other files are left alone.
 */
import { isDeepStrictEqual } from 'node:util'
import type { TransactionSql } from 'postgres'
import { type PlannedRow, type StoredPrice, savePrice, withdrawPrice } from '../store.ts'

/** Prices to plan, with the time at which they take effect. */
export interface DesiredPlan {
  readonly effectiveFrom: Date
  readonly prices: readonly StoredPrice[]
}

export interface DesiredPlans {
  readonly modelId: string
  /** Null for a free model, which has no planned prices. */
  readonly currency: string | null
  readonly source: string
  readonly plans: readonly DesiredPlan[]
}

/**
 * Adds and withdraws planned prices of a model until they match `plans`. Returns false if nothing
 * changed.
 */
export async function applyPlans(
  sql: TransactionSql,
  { modelId, currency, source, plans }: DesiredPlans,
  existing: readonly PlannedRow[],
): Promise<boolean> {
  const isDesired = (row: PlannedRow) => plans.some((plan) => isSame(plan, row, currency))
  const isReplaceable = (row: PlannedRow) =>
    row.source === source ||
    row.currency !== currency ||
    plans.some((plan) => isAtOnce(plan.effectiveFrom, row))
  const withdrawn = existing.filter((row) => !isDesired(row) && isReplaceable(row))
  const added = plans.filter((plan) => !existing.some((row) => isSame(plan, row, currency)))
  for (const row of withdrawn) await withdrawPrice(sql, modelId, row.version)
  if (currency !== null) {
    for (const plan of added) await savePrice(sql, { ...plan, modelId, currency, source })
  }
  return withdrawn.length > 0 || added.length > 0
}

function isSame(plan: DesiredPlan, row: PlannedRow, currency: string | null): boolean {
  if (row.currency !== currency || !isAtOnce(plan.effectiveFrom, row)) return false
  return isDeepStrictEqual(row.prices, plan.prices)
}

function isAtOnce(moment: Date, row: PlannedRow): boolean {
  return row.effective_from.getTime() === moment.getTime()
}
