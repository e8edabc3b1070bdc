/**
 * Applies planned prices of files and operators. Prices that a file planned earlier and no longer
 * names are withdrawn; prices planned by operators or other files are left alone.
 */
import { isDeepStrictEqual } from 'node:util'
import type { TransactionSql } from 'postgres'
import { type PlannedRow, type StoredPrice, savePrice, withdrawPrice } from '../store.ts'

/** Prices to plan, with the time at which they take effect. */
export interface WantedPlan {
  readonly effectiveFrom: Date
  readonly prices: readonly StoredPrice[]
}

export interface WantedPlans {
  readonly modelId: string
  /** Null for a free model, which has no planned prices. */
  readonly currency: string | null
  readonly source: string
  readonly plans: readonly WantedPlan[]
}

/**
 * Adds and withdraws planned prices of a model until they match `plans`. Returns false if nothing
 * changed.
 */
export async function applyPlans(
  sql: TransactionSql,
  { modelId, currency, source, plans }: WantedPlans,
  existing: readonly PlannedRow[],
): Promise<boolean> {
  const isWanted = (row: PlannedRow) => plans.some((plan) => isSame(plan, row, currency))
  const isOver = (row: PlannedRow) =>
    row.source === source ||
    row.currency !== currency ||
    plans.some((plan) => isAtOnce(plan.effectiveFrom, row))
  const gone = existing.filter((row) => !isWanted(row) && isOver(row))
  const added = plans.filter((plan) => !existing.some((row) => isSame(plan, row, currency)))
  for (const row of gone) await withdrawPrice(sql, modelId, row.version)
  if (currency !== null) {
    for (const plan of added) await savePrice(sql, { ...plan, modelId, currency, source })
  }
  return gone.length > 0 || added.length > 0
}

function isSame(plan: WantedPlan, row: PlannedRow, currency: string | null): boolean {
  if (row.currency !== currency || !isAtOnce(plan.effectiveFrom, row)) return false
  return isDeepStrictEqual(row.prices, plan.prices)
}

function isAtOnce(moment: Date, row: PlannedRow): boolean {
  return row.effective_from.getTime() === moment.getTime()
}
