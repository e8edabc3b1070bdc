/** Loads the models and lists of the catalog without its channels, to show prices. */
import type { Sql, TransactionSql } from 'postgres'
import type { CatalogSnapshot } from '../catalog.ts'
import { listPlanned, type ModelRow, readLists, readMoment, selectModels } from '../store.ts'
import { loadModel } from './load-model.ts'

export interface LoadedPrices {
  readonly snapshot: CatalogSnapshot
  /** The active models as they are stored. */
  readonly rows: ReadonlyMap<string, ModelRow>
}

export async function loadPrices(sql: Sql | TransactionSql): Promise<LoadedPrices> {
  const { revision, at } = await readMoment(sql)
  const rows = (await selectModels(sql)).filter(({ status }) => status === 'active')
  const plans = Map.groupBy(await listPlanned(sql), (row) => row.model_id)
  const lists = await readLists(sql)
  const models = rows.map((row) => loadModel(row, plans.get(row.id) ?? []))
  const snapshot: CatalogSnapshot = {
    revision,
    pricedAtMs: at.getTime(),
    lists: new Map(lists.map((list) => [list.id, list])),
    models: new Map(models.map((model) => [model.id, model])),
    channels: new Map(),
  }
  return { snapshot, rows: new Map(rows.map((row) => [row.id, row])) }
}
