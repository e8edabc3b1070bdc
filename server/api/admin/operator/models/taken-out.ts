/** The tools that were removed from a model's requests, and what their vendor charges for them. */
import type { Sql } from 'postgres'
import { UNITS } from '../../../../base/lib/units.ts'
import { findListPrices } from '../../../../money/catalog/apply/list-prices.ts'
import type { ModelSummary } from '../../../../money/catalog/describe.ts'
import { readPrices } from '../../../../money/catalog/load/load-model.ts'
import { isPriced } from '../../../../money/catalog/price/price.ts'
import { listChannels } from '../../../../money/catalog/store.ts'
import { listTakenOut, type TakenOutRow } from '../../../../money/usage/taken-out-store.ts'

/** Returns a function that shows the tools of a model, the latest first. */
export async function readTakenOut(sql: Sql, modelId?: string) {
  const rows = Map.groupBy(await listTakenOut(sql, modelId), ({ model_id: id }) => id)
  const found = rows.size === 0 ? [] : await listChannels(sql)
  const channels = new Map(found.map((channel) => [channel.id, channel]))
  return (model: ModelSummary) => {
    const own = (rows.get(model.id) ?? []).filter((row) => isTakenOut(model, row))
    return own.map((row) => ({
      ...row,
      answers: Number(row.answers),
      list: row.unit === null ? null : (findListPrices(model.routes, channels, row.unit) ?? null),
    }))
  }
}

/** False if the operator has changed since what happens to the tool. */
function isTakenOut({ free, prices, details }: ModelSummary, { unit }: TakenOutRow): boolean {
  if (free || details.unpriced_tools === 'refuse') return false
  const known = UNITS.find((one) => one === unit)
  return known === undefined || !isPriced(readPrices(prices), known)
}
