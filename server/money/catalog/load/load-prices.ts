/** Loads the models and lists of the catalog without its channels, to show prices. */
import type { Sql, TransactionSql } from 'postgres'
import type { CatalogSnapshot } from '../catalog.ts'
import { listPlanned, type ModelRow, readLists, readMoment, selectModels } from '../store.ts'
import { loadModel, modelAt } from './load-model.ts'

export interface LoadedPrices {
  readonly snapshot: CatalogSnapshot
  /** The active models as they are stored. */
  readonly rows: ReadonlyMap<string, ModelRow>
}

/** Loads the prices in force, or those planned for a later moment. */
export async function loadPrices(
  sql: Sql | TransactionSql,
  moment?: Date | undefined,
): Promise<LoadedPrices> {
  const { revision, at: now } = await readMoment(sql)
  const atMs = Math.max(now.getTime(), moment?.getTime() ?? 0)
  const rows = (await selectModels(sql)).filter(({ status }) => status === 'active')
  const plans = Map.groupBy(await listPlanned(sql), (row) => row.model_id)
  const lists = await readLists(sql)
  const models = rows.map((row) => modelAt(loadModel(row, plans.get(row.id) ?? []), atMs))
  const snapshot: CatalogSnapshot = {
    revision,
    pricedAtMs: atMs,
    lists: new Map(lists.map((list) => [list.id, list])),
    models: new Map(models.map((model) => [model.id, model])),
    channels: new Map(),
    issuers: [],
  }
  return { snapshot, rows: new Map(rows.map((row) => [row.id, row])) }
}
