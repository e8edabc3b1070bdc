/** Applies the models of catalog files: a new price version is saved only if prices changed. */
import { isDeepStrictEqual } from 'node:util'
import type { TransactionSql } from 'postgres'
import { findDifferences } from '../../lib/differences.ts'
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
import { hasSameRouteCosts, isSameRouting, versionCosts } from './apply-costs.ts'
import { applyPlans, type DesiredPlan } from './apply-plans.ts'
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
      const { currency = content.currency } = model
      const desired = desiredRow(model, model.source ?? source, currency, at)
      const before = { row: existing.get(model.id), planned: planned.get(model.id) ?? [] }
      const change = await applyModel(sql, desired, before)
      if (change) changes.push(change)
    }
  }
  return changes
}

interface DesiredModel
  extends Omit<ModelRow, 'status' | 'updated_at' | 'price_version' | 'effective_from'> {
  /** Prices that take effect in the future. */
  readonly plans: readonly DesiredPlan[]
}

interface Before {
  readonly row: ModelRow | undefined
  readonly planned: readonly PlannedRow[]
}

async function applyModel(
  sql: TransactionSql,
  desired: DesiredModel,
  { row, planned }: Before,
): Promise<CatalogChange | undefined> {
  const { id: modelId, currency, source, plans } = desired
  const replanned = await applyPlans(sql, { modelId, currency, source, plans }, planned)
  const what = row ? [...listChanges(row, desired), ...(replanned ? ['planned prices'] : [])] : []
  if (row && what.length === 0) return undefined
  await save(sql, desired, row)
  const change = { kind: 'model', id: modelId, what } as const
  if (!row) return { ...change, change: 'added' }
  const differences = findDifferences(
    showModel(
      row,
      planned.map(({ effective_from: from, prices }) => showPlan(from, prices)),
    ),
    showModel(
      desired,
      plans.map(({ effectiveFrom, prices }) => showPlan(effectiveFrom, prices)),
    ),
  )
  return { ...change, change: 'changed', differences }
}

type ComparedModel = Pick<
  ModelRow,
  'type' | 'free' | 'currency' | 'prices' | 'routes' | 'fallbacks' | 'limits' | 'details'
>

/** Returns what an operator can change of a model. */
function showModel(model: ComparedModel, plans: readonly object[]): object {
  const { type, free, currency, prices, limits, details } = model
  const toChannels = model.routes.map(({ upstream_cost_version: _version, ...route }) => route)
  const routes = [...toChannels, ...model.fallbacks]
  return { type, free, currency, prices, planned_prices: plans, routes, limits, details }
}

function showPlan(effectiveFrom: Date, prices: readonly StoredPrice[]): object {
  return { effective_from: effectiveFrom.toISOString(), prices }
}

function listChanges(row: ModelRow, desired: DesiredModel): string[] {
  return [
    ...(row.status === 'retired' ? ['status'] : []),
    ...(row.type === desired.type ? [] : ['type']),
    ...(row.free === desired.free ? [] : ['free']),
    ...(hasSamePrices(row, desired) ? [] : ['prices']),
    ...(isSameRouting(row, desired) ? [] : ['routes']),
    ...(hasSameRouteCosts(row.routes, desired.routes) ? [] : ['costs']),
    ...(isDeepStrictEqual(row.limits, desired.limits) ? [] : ['limits']),
    ...(isDeepStrictEqual(row.details, desired.details) ? [] : ['details']),
    ...(row.source === desired.source ? [] : [`source (was ${row.source || 'none'})`]),
  ]
}

async function save(
  sql: TransactionSql,
  desired: DesiredModel,
  row: ModelRow | undefined,
): Promise<void> {
  const { id: modelId, currency, prices, plans: _plans, ...columns } = desired
  const routes = await versionCosts(sql, modelId, desired.routes, row?.routes ?? [])
  const isNew = !row || !hasSamePrices(row, desired)
  const version =
    prices === null || currency === null
      ? null
      : isNew
        ? await savePrice(sql, { modelId, currency, prices })
        : row.price_version
  await saveModel(sql, { ...columns, id: modelId, routes, price_version: version })
}

type ModelPrices = Pick<ModelRow, 'currency' | 'prices'>

function hasSamePrices(a: ModelPrices, b: ModelPrices): boolean {
  return isDeepStrictEqual(pricesOf(a), pricesOf(b))
}

function pricesOf({ currency, prices }: ModelPrices) {
  return prices === null ? null : { currency, prices }
}

/**
 * Returns the model as its row would read back: defaults filled in, amounts in their shortest form.
 * The latest planned prices that have begun replace `prices`, so that a file means the same before
 * and after that time.
 */
function desiredRow(model: FileModel, source: string, currency: string, at: Date): DesiredModel {
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
    fallbacks: model.fallbacks,
    details: model.details,
    currency: model.free ? null : currency,
    prices: model.free ? null : (begun.at(-1)?.prices ?? model.prices.map(storedPrice)),
  }
  const stored: Omit<DesiredModel, 'plans'> = clean(row)
  return { ...stored, plans: plans.slice(begun.length) }
}

/** Drops undefined members, as storing the value as JSON would. */
function clean(value: unknown) {
  return JSON.parse(JSON.stringify(value))
}

function storedPrice({ unit, per, amount, when }: FileModel['prices'][number]) {
  return { unit, per, amount: formatAmount(parseAmount(amount) ?? 0n), when }
}
