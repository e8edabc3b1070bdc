/** Applies the models of catalog files: a new price version is saved only if prices changed. */
import { isDeepStrictEqual } from 'node:util'
import type { TransactionSql } from 'postgres'
import { formatAmount, parseAmount } from '../../lib/money.ts'
import {
  listPlanned,
  type ModelRow,
  type PlannedRow,
  readMoment,
  type StoredPrice,
  saveModel,
  savePrice,
} from '../store.ts'
import { costTheSame, isSameRouting, versionCosts } from './apply-costs.ts'
import { applyPlans, type WantedPlan } from './apply-plans.ts'
import type { ApplyOptions, CatalogChange } from './change.ts'
import type { FileModel } from './file-schema.ts'

export async function applyModels(
  sql: TransactionSql,
  rows: readonly ModelRow[],
  options: ApplyOptions,
): Promise<CatalogChange[]> {
  const existing = new Map(rows.map((row) => [row.id, row]))
  const planned = Map.groupBy(await listPlanned(sql), (row) => row.model_id)
  const { at } = await readMoment(sql)
  const changes: CatalogChange[] = []
  for (const { source, content } of options.files) {
    for (const model of content.models) {
      const wanted = wantedRow(model, source, content.currency, at)
      const before = { row: existing.get(model.id), planned: planned.get(model.id) ?? [] }
      const change = await applyModel(sql, wanted, before)
      if (change) changes.push(change)
    }
  }
  return changes
}

interface WantedModel
  extends Omit<ModelRow, 'status' | 'updated_at' | 'price_version' | 'effective_from'> {
  /** Prices that take effect in the future. */
  readonly plans: readonly WantedPlan[]
}

interface Before {
  readonly row: ModelRow | undefined
  readonly planned: readonly PlannedRow[]
}

async function applyModel(
  sql: TransactionSql,
  wanted: WantedModel,
  { row, planned }: Before,
): Promise<CatalogChange | undefined> {
  const { id: modelId, currency, source, plans } = wanted
  const replanned = await applyPlans(sql, { modelId, currency, source, plans }, planned)
  const what = row ? [...listChanges(row, wanted), ...(replanned ? ['planned prices'] : [])] : []
  if (row && what.length === 0) return undefined
  await save(sql, wanted, row)
  return { kind: 'model', id: modelId, change: row ? 'changed' : 'added', what }
}

function listChanges(row: ModelRow, wanted: WantedModel): string[] {
  return [
    ...(row.status === 'retired' ? ['status'] : []),
    ...(row.type === wanted.type ? [] : ['type']),
    ...(row.free === wanted.free ? [] : ['free']),
    ...(isSoldAlike(row, wanted) ? [] : ['prices']),
    ...(isSameRouting(row.routes, wanted.routes) ? [] : ['routes']),
    ...(costTheSame(row.routes, wanted.routes) ? [] : ['costs']),
    ...(isDeepStrictEqual(row.limits, wanted.limits) ? [] : ['limits']),
    ...(isDeepStrictEqual(row.details, wanted.details) ? [] : ['details']),
    ...(row.source === wanted.source ? [] : [`source (was ${row.source || 'none'})`]),
  ]
}

async function save(
  sql: TransactionSql,
  wanted: WantedModel,
  row: ModelRow | undefined,
): Promise<void> {
  const { id: modelId, currency, prices, plans: _plans, ...columns } = wanted
  const routes = await versionCosts(sql, modelId, wanted.routes, row?.routes ?? [])
  const isNew = !row || !isSoldAlike(row, wanted)
  const version =
    prices === null || currency === null
      ? null
      : isNew
        ? await savePrice(sql, { modelId, currency, prices })
        : row.price_version
  await saveModel(sql, { ...columns, id: modelId, routes, price_version: version })
}

type Sold = Pick<ModelRow, 'currency' | 'prices'>

function isSoldAlike(a: Sold, b: Sold): boolean {
  return isDeepStrictEqual(pricesOf(a), pricesOf(b))
}

function pricesOf({ currency, prices }: Sold) {
  return prices === null ? null : { currency, prices }
}

/**
 * Returns the model as its row would read back: defaults filled in, amounts in their shortest form.
 * The latest planned prices that have begun replace `prices`, so that a file means the same before
 * and after that time.
 */
function wantedRow(model: FileModel, source: string, currency: string, at: Date): WantedModel {
  const plans = (model.planned_prices ?? [])
    .map(({ effective_from: from, prices }) => {
      const stored: StoredPrice[] = clean(prices.map(storedPrice))
      return { effectiveFrom: new Date(from), prices: stored }
    })
    .sort((a, b) => a.effectiveFrom.getTime() - b.effectiveFrom.getTime())
  // The database's clock has microseconds, which a Date drops.
  const begun = plans.filter(({ effectiveFrom }) => effectiveFrom.getTime() <= at.getTime() + 1)
  const row = {
    id: model.id,
    type: model.type,
    free: model.free,
    source,
    limits: model.limits,
    routes: model.routes.map(({ channel, upstream_model = model.id, priority, weight, costs }) => {
      const cost = costs ? { costs: costs.map(storedPrice), currency } : {}
      return { channel, upstream_model, priority, weight, ...cost }
    }),
    details: model.details,
    currency: model.free ? null : currency,
    prices: model.free ? null : (begun.at(-1)?.prices ?? model.prices.map(storedPrice)),
  }
  const stored: Omit<WantedModel, 'plans'> = clean(row)
  return { ...stored, plans: plans.slice(begun.length) }
}

/** Drops undefined members, as storing the value as JSON would. */
function clean(value: unknown) {
  return JSON.parse(JSON.stringify(value))
}

function storedPrice({ unit, per, amount, when }: FileModel['prices'][number]) {
  return { unit, per, amount: formatAmount(parseAmount(amount) ?? 0n), when }
}
