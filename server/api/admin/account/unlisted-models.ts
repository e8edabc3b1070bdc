/** Refuses ids of models that the catalog does not have, in keys and budgets. */
import type { Sql } from 'postgres'
import { invalidField } from '../../../base/lib/errors.ts'
import { findUnknownModels } from '../../../money/catalog/describe.ts'

/**
 * Throws a 400 that names the field and the first unknown id. `stored` are the ids that the row
 * already has: some of them may have been retired since.
 */
export async function refuseUnlistedModels(
  sql: Sql,
  models: readonly string[] | null | undefined,
  stored: readonly string[] | null = [],
): Promise<void> {
  const added = models?.filter((id) => !stored?.includes(id))
  const [id] = await findUnknownModels(sql, added)
  if (id === undefined) return
  const index = models?.indexOf(id) ?? 0
  throw invalidField(`models[${index}]`, `there is no model '${id}': GET /v1/models lists the ids`)
}
