/** Applies the models of catalog files: a new price version is saved only if prices changed. */
import { isDeepStrictEqual } from 'node:util'
import type { TransactionSql } from 'postgres'
import { findDifferences } from '../../../base/lib/differences.ts'
import { definitionOf, inOrder, type PricePlan, pricePlanOf } from '../definition.ts'
import {
  listPlanned,
  type ModelRow,
  type PlannedRow,
  readMoment,
  type StoredRoute,
  saveCost,
  saveModel,
  savePrice,
} from '../store.ts'
import { comparePlans, savePlans } from './apply-plans.ts'
import type { ApplyOptions, CatalogChange, Difference } from './change.ts'
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
      const desired = desire(model, model.source ?? source, currency, at)
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
  readonly plans: readonly PricePlan[]
}

/**
 * The latest planned prices that have taken effect replace `prices`, so that a file has the same
 * meaning before and after that time.
 */
function desire(model: FileModel, source: string, currency: string, at: Date): DesiredModel {
  const plans = inOrder(model.planned_prices ?? [])
  // The database's clock has microseconds, which a Date drops.
  const begun = plans.filter((plan) => Date.parse(plan.effective_from) <= at.getTime() + 1)
  return {
    ...model,
    source,
    currency: model.free ? null : currency,
    prices: model.free ? null : (begun.at(-1)?.prices ?? model.prices),
    routes: model.routes.map((route) => (route.costs ? { ...route, currency } : route)),
    plans: plans.slice(begun.length),
  }
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
  const plans = { ...desired, modelId: desired.id }
  const replanned = comparePlans(plans, planned)
  await savePlans(sql, plans, replanned)
  const change = { kind: 'model', id: desired.id } as const
  if (!row) {
    await save(sql, desired, undefined)
    return { ...change, change: 'added', what: [] }
  }
  const differences = findDifferences(
    definitionOf(row, planned.map(pricePlanOf)),
    definitionOf(desired, replanned.after),
  )
  const parts = new Set(differences.map(partOf))
  const isReplanned = replanned.withdrawn.length + replanned.added.length > 0
  const what = [
    ...(row.status === 'retired' ? ['status'] : []),
    ...parts,
    ...(row.source === desired.source ? [] : [`source (was ${row.source || 'none'})`]),
    ...(isReplanned ? ['planned prices'] : []),
  ]
  if (what.length === 0) return undefined
  await save(sql, desired, row, parts.has('prices'))
  return { ...change, change: 'changed', what: [...new Set(what)], differences }
}

/** Returns the name of the part of a model that contains a difference. */
function partOf({ path }: Difference): string {
  if (/^routes\[\d+\]\.(?:costs|currency)/.test(path)) return 'costs'
  const [member = ''] = path.split(/[.[]/)
  // The currency is that of the prices.
  return member === 'currency' ? 'prices' : member.replace('_', ' ')
}

async function save(
  sql: TransactionSql,
  { id, currency, prices, ...columns }: DesiredModel,
  row: ModelRow | undefined,
  arePricesNew = true,
): Promise<void> {
  const routes = await versionCosts(sql, id, columns.routes, row?.routes ?? [])
  const isSold = prices !== null && currency !== null
  const version = !isSold
    ? null
    : row && !arePricesNew
      ? row.price_version
      : await savePrice(sql, { modelId: id, currency, prices })
  await saveModel(sql, { ...columns, id, routes, price_version: version })
}

/** Returns the routes with the versions of their costs; new costs get a new version. */
async function versionCosts(
  sql: TransactionSql,
  modelId: string,
  desired: readonly StoredRoute[],
  stored: readonly StoredRoute[],
): Promise<StoredRoute[]> {
  const routes: StoredRoute[] = []
  for (const route of desired) {
    const known = stored.find((one) => hasSameCosts(one, route))
    const version =
      route.costs && (known?.upstream_cost_version ?? (await saveCost(sql, modelId, route)))
    routes.push(version === undefined ? route : { ...route, upstream_cost_version: version })
  }
  return routes
}

function hasSameCosts(a: StoredRoute, b: StoredRoute): boolean {
  const costsOf = ({ channel, upstream_model: model, costs, currency }: StoredRoute) => {
    return [channel, model, currency, costs]
  }
  return isDeepStrictEqual(costsOf(a), costsOf(b))
}
