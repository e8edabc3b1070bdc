/** The history of a model's prices. */
import type { Sql } from 'postgres'
import type { StoredPrice } from '../../catalog/store.ts'

export interface PriceVersionRow {
  readonly version: bigint
  readonly created_at: Date
  readonly currency: string
  readonly prices: readonly StoredPrice[]
}

/** Newest first. */
export function selectPriceHistory(sql: Sql, modelId: string): Promise<PriceVersionRow[]> {
  return sql<PriceVersionRow[]>`
    select version, created_at, currency, prices from price where model_id = ${modelId}
    order by version desc limit 100`
}
