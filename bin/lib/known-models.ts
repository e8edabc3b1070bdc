/** Refuses ids of models that the catalog does not have. */
import type { Sql } from 'postgres'
import { OperatorError } from '../../server/base/lib/operator-error.ts'
import { listModelSummaries } from '../../server/money/catalog/describe.ts'

/**
 * A key for a typing error could call nothing, and a budget for one would limit nothing; null or
 * undefined is every model. Throws OperatorError.
 */
export async function refuseUnknownModels(
  sql: Sql,
  models: readonly string[] | null | undefined,
): Promise<void> {
  if (!models) return
  const known = new Set((await listModelSummaries(sql, false)).map(({ id }) => id))
  const unknown = models.filter((model) => !known.has(model))
  if (unknown.length === 0) return
  const names = unknown.join(', ')
  throw new OperatorError(`the catalog has no model ${names}: tributary model list has their ids`)
}
