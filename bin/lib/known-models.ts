/** Refuses ids of models that the catalog does not have. */
import type { Sql } from 'postgres'
import { OperatorError } from '../../server/base/lib/operator-error.ts'
import { findUnknownModels } from '../../server/money/catalog/describe.ts'

/** Throws OperatorError that names them; null or undefined is every model. */
export async function refuseUnknownModels(
  sql: Sql,
  models: readonly string[] | null | undefined,
): Promise<void> {
  const unknown = await findUnknownModels(sql, models)
  if (unknown.length === 0) return
  const names = unknown.join(', ')
  throw new OperatorError(`the catalog has no model ${names}: tributary model list has their ids`)
}
