/** Models, their routes and versioned prices. */

import type { Sql } from 'postgres'
import type { z } from 'zod'
import { UNITS } from '../../../../base/lib/units.ts'
import {
  addModels,
  type EditOptions,
  editModel,
  retireModel,
} from '../../../../money/catalog/apply/edit.ts'
import { findListPrices } from '../../../../money/catalog/apply/list-prices.ts'
import { planPrices, withdrawPlan } from '../../../../money/catalog/apply/plan-prices.ts'
import { listVendors } from '../../../../money/catalog/apply/vendors.ts'
import { compareCosts, findPriceProblems } from '../../../../money/catalog/compare-costs.ts'
import {
  describeStoredModel,
  listModelSummaries,
  type ModelSummary,
} from '../../../../money/catalog/describe.ts'
import { readPrices } from '../../../../money/catalog/load/load-model.ts'
import { describeOrder } from '../../../../money/catalog/load/route-order.ts'
import { isPriced } from '../../../../money/catalog/price/price.ts'
import { revisionOfModel } from '../../../../money/catalog/revisions.ts'
import { listChannels, type PlannedRow } from '../../../../money/catalog/store.ts'
import { listTakenOut, type TakenOutRow } from '../../../../money/usage/taken-out-store.ts'
import type { ChecksOf, HandlersOf } from '../../handler.ts'
import { refuseAs, withOperatorErrors } from '../../operator-failure.ts'
import { preconditionsOf } from '../../preconditions.ts'
import { noSuch } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import { editOptions } from '../edit-options.ts'
import type { operatorModelsContract } from './contract.ts'
import { type PriceVersionRow, selectPriceHistory } from './store.ts'

type ShowTakenOut = Awaited<ReturnType<typeof readTakenOut>>

function showModel(row: ModelSummary, { catalog }: AdminServices, takenOut: ShowTakenOut) {
  const { unpriced_tools: tools, routing, ...details } = row.details
  const { channels } = catalog.snapshot()
  return {
    ...row,
    revision: revisionOfModel(row, row.planned),
    limits: row.limits as Readonly<Record<string, number>>,
    planned_prices: row.planned.map((plan) => showPlan(row, plan)),
    margins: compareCosts(row),
    price_problems: findPriceProblems(row),
    details,
    unpriced_tools: tools === 'refuse' ? ('refuse' as const) : ('take_out' as const),
    routing: routing === 'cheapest' ? ('cheapest' as const) : ('priority' as const),
    route_order: describeOrder(row).map((route) => {
      const channel = channels.get(route.channel)
      return { ...route, is_usable: channel !== undefined && !channel.isPaused }
    }),
    tools_taken_out: takenOut(row),
    warnings: listWarnings(row, channels),
  }
}

function showPlan(model: ModelSummary, plan: PlannedRow) {
  return { ...plan, price_problems: findPriceProblems({ ...model, prices: plan.prices }) }
}

function listWarnings(row: ModelSummary, channels: ReadonlyMap<string, unknown>): string[] {
  if (row.status !== 'active') return []
  const usable = row.routes.filter(({ channel }) => channels.has(channel))
  const isRouted = row.routes.length > 0 || row.fallbacks.length > 0
  return [
    ...(isRouted ? [] : ['no route: calls are refused']),
    ...(row.routes.length > 0 && usable.length === 0 ? ['no route leads to a usable channel'] : []),
    ...(usable.length > 0 && usable.length < row.routes.length
      ? ['some routes lead to channels that cannot be used']
      : []),
    ...(describeOrder(row).some(({ because }) => because === 'unknown_cost')
      ? ['the costs of some routes are not known: they are tried last']
      : []),
    ...(!row.free && row.prices.length === 0 ? ['no price: calls are refused'] : []),
    ...(row.details.example === true ? ['its prices are examples: set your own'] : []),
  ]
}

function stateOf(row: PriceVersionRow, current: string | null) {
  if (row.withdrawn) return 'withdrawn'
  if (row.is_planned) return 'planned'
  return row.version.toString() === current ? 'current' : 'past'
}

async function showStored(services: AdminServices, id: string) {
  const row = await findModel(services, id)
  return showModel(row, services, await readTakenOut(services.sql, id))
}

function findModel({ sql }: AdminServices, id: string) {
  return refuseAs(describeStoredModel(sql, id), () => noSuch('model'))
}

export const operatorModelsChecks: ChecksOf<
  typeof operatorModelsContract,
  'PUT /operator/models/:model_id' | 'POST /operator/models'
> = {
  'PUT /operator/models/:model_id': ({ context, params, body }, services) =>
    saveModel(
      { ...editOptions(services), dryRun: true, ...preconditionsOf(context) },
      params.model_id,
      body,
    ),
  'POST /operator/models': ({ body }, services) =>
    saveModels({ ...editOptions(services), dryRun: true }, body),
}

type Draft = z.output<(typeof operatorModelsContract)['PUT /operator/models/:model_id']['body']>

function saveModel(options: EditOptions, id: string, { currency, ...members }: Draft) {
  return withOperatorErrors(editModel(options, currency, { ...members, id }))
}

type Drafts = z.output<(typeof operatorModelsContract)['POST /operator/models']['body']>

function saveModels(options: EditOptions, { currency, models }: Drafts) {
  return withOperatorErrors(addModels(options, currency, models), 'several')
}

export const operatorModelsHandlers: HandlersOf<typeof operatorModelsContract> = {
  async 'GET /operator/models'({ query }, services) {
    const rows = await listModelSummaries(services.sql, query.retired)
    const searchText = query.search?.toLowerCase()
    const found = rows
      .filter(({ type }) => query.type === undefined || type === query.type)
      .filter(({ id }) => searchText === undefined || id.toLowerCase().includes(searchText))
    const takenOut = await readTakenOut(services.sql)
    return { data: found.map((row) => showModel(row, services, takenOut)) }
  },

  async 'GET /operator/models/:model_id'({ params }, services) {
    const row = await findModel(services, params.model_id)
    const history = await selectPriceHistory(services.sql, row.id)
    return {
      ...showModel(row, services, await readTakenOut(services.sql, row.id)),
      price_history: history.map((one) => ({
        ...one,
        state: stateOf(one, row.price_version),
      })),
    }
  },

  async 'PUT /operator/models/:model_id'({ context, params, body, note }, services) {
    const diff = await saveModel(
      { ...editOptions(services), ...preconditionsOf(context) },
      params.model_id,
      body,
    )
    note({
      changes: diff.changes.flatMap(({ what }) => what),
      differences: diff.changes.flatMap(({ differences = [] }) => differences),
    })
    await services.catalog.refresh()
    return showStored(services, params.model_id)
  },

  async 'POST /operator/models'({ body, note }, services) {
    const diff = await saveModels(editOptions(services), body)
    const ids = body.models.map(({ id }) => id)
    note({ models: ids.join(', '), changes: diff.changes.flatMap(({ what }) => what) })
    await services.catalog.refresh()
    const rows = (await listModelSummaries(services.sql, false)).filter(({ id }) =>
      ids.includes(id),
    )
    const takenOut = await readTakenOut(services.sql)
    return { data: rows.map((row) => showModel(row, services, takenOut)) }
  },

  async 'POST /operator/models/:model_id/planned-prices'({ params, body, note }, services) {
    const { model_id: id } = params
    await findModel(services, id)
    await withOperatorErrors(planPrices(services.sql, id, body))
    note({ effective_from: body.effective_from, ...(body.until ? { until: body.until } : {}) })
    await services.catalog.refresh()
    return showStored(services, id)
  },

  async 'DELETE /operator/models/:model_id/planned-prices/:version'({ params }, services) {
    const { model_id: id, version } = params
    const isNumber = /^\d{1,18}$/.test(version)
    if (!isNumber || !(await withdrawPlan(services.sql, id, BigInt(version)))) {
      throw noSuch('plan, or it has begun')
    }
    await services.catalog.refresh()
  },

  async 'DELETE /operator/models/:model_id'({ params }, { sql, catalog }) {
    if (!(await withOperatorErrors(retireModel(sql, params.model_id)))) throw noSuch('model')
    await catalog.refresh()
  },
}

/** Returns a function that shows the tools of a model, the latest first. */
async function readTakenOut(sql: Sql, modelId?: string) {
  const rows = Map.groupBy(await listTakenOut(sql, modelId), ({ model_id: id }) => id)
  const found = rows.size === 0 ? [] : await listChannels(sql)
  const channels = new Map(found.map((channel) => [channel.id, channel]))
  const vendors = rows.size === 0 ? [] : await listVendors()
  return (model: ModelSummary) => {
    const own = (rows.get(model.id) ?? []).filter((row) => isTakenOut(model, row))
    return own.map((row) => ({
      ...row,
      answers: Number(row.answers),
      list: (row.unit && findListPrices(model.routes, channels, row.unit, vendors)) || null,
    }))
  }
}

/** False if the operator has since changed what happens to the tool. */
function isTakenOut({ free, prices, details }: ModelSummary, { unit }: TakenOutRow): boolean {
  if (free || details.unpriced_tools === 'refuse') return false
  const known = UNITS.find((one) => one === unit)
  return known === undefined || !isPriced(readPrices(prices), known)
}
