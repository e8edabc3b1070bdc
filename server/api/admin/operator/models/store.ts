/** SQL of a model's price history. */
import type { Sql } from 'postgres'
import type { StoredPrice } from '../../../../money/catalog/store.ts'

export interface PriceVersionRow {
  readonly version: bigint
  readonly created_at: Date
  readonly effective_from: Date
  readonly currency: string
  readonly prices: readonly StoredPrice[]
  readonly withdrawn: boolean
  readonly is_planned: boolean
}

/** Lists versions by their start, latest first, including planned ones. */
export function selectPriceHistory(sql: Sql, modelId: string): Promise<PriceVersionRow[]> {
  return sql<PriceVersionRow[]>`
    select p.version, p.created_at, p.effective_from, p.currency, p.prices,
      w.version is not null as withdrawn, p.effective_from > now() as is_planned
    from price p left join price_withdrawal w on w.version = p.version
    where p.model_id = ${modelId}
    order by p.effective_from desc, p.version desc limit 100`
}
