/** The models' part of `apply`: a new price version only when prices really changed. */
import { isDeepStrictEqual } from 'node:util'
import type { TransactionSql } from 'postgres'
import { formatAmount, parseAmount } from '../lib/money.ts'
import type { ApplyOptions, CatalogChange } from './apply.ts'
import type { FileModel } from './file-schema.ts'
import { type ModelRow, saveModel, savePrice } from './store.ts'

export async function applyModels(
  sql: TransactionSql,
  rows: readonly ModelRow[],
  options: ApplyOptions,
): Promise<CatalogChange[]> {
  const existing = new Map(rows.map((row) => [row.id, row]))
  const changes: CatalogChange[] = []
  for (const { source, content } of options.files) {
    for (const model of content.models) {
      const wanted = wantedRow(model, source, content.currency)
      const change = await applyModel(sql, wanted, existing.get(model.id))
      if (change) changes.push(change)
    }
  }
  return changes
}

type WantedModel = Omit<ModelRow, 'status' | 'updated_at' | 'price_version'>

async function applyModel(
  sql: TransactionSql,
  wanted: WantedModel,
  row: ModelRow | undefined,
): Promise<CatalogChange | undefined> {
  const pricesChanged = !row || !isDeepStrictEqual(pricesOf(row), pricesOf(wanted))
  const what = row
    ? [
        ...(row.status === 'retired' ? ['status'] : []),
        ...(row.type === wanted.type ? [] : ['type']),
        ...(row.free === wanted.free ? [] : ['free']),
        ...(pricesChanged ? ['prices'] : []),
        ...(isDeepStrictEqual(row.routes, wanted.routes) ? [] : ['routes']),
        ...(isDeepStrictEqual(row.limits, wanted.limits) ? [] : ['limits']),
        ...(isDeepStrictEqual(row.details, wanted.details) ? [] : ['details']),
        ...(row.source === wanted.source ? [] : [`source (was ${row.source || 'none'})`]),
      ]
    : []
  if (row && what.length === 0) return undefined
  const { currency, prices, ...columns } = wanted
  const price_version =
    prices === null || currency === null
      ? null
      : pricesChanged
        ? await savePrice(sql, { modelId: wanted.id, currency, prices })
        : (row?.price_version ?? null)
  await saveModel(sql, { ...columns, price_version })
  return { kind: 'model', id: wanted.id, change: row ? 'changed' : 'added', what }
}

function pricesOf({ currency, prices }: Pick<ModelRow, 'currency' | 'prices'>) {
  return prices === null ? null : { currency, prices }
}

/** The model as its row would read back: defaults filled in, amounts in their shortest form. */
function wantedRow(model: FileModel, source: string, currency: string): WantedModel {
  const row = {
    id: model.id,
    type: model.type,
    free: model.free,
    source,
    limits: model.limits,
    routes: model.routes.map(({ channel, upstream_model = model.id, priority, weight }) => {
      return { channel, upstream_model, priority, weight }
    }),
    details: model.details,
    currency: model.free ? null : currency,
    prices: model.free ? null : model.prices.map(storedPrice),
  }
  // JSON has no undefined members: what comes back is what the database would give.
  return JSON.parse(JSON.stringify(row))
}

function storedPrice({ unit, per, amount, when }: FileModel['prices'][number]) {
  return { unit, per, amount: formatAmount(parseAmount(amount) ?? 0n), when }
}
