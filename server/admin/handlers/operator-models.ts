/** Models, their routes and versioned prices. */
import { describeModel, listModelSummaries, type ModelSummary } from '../../catalog/describe.ts'
import { editModel, retireModel } from '../../catalog/edit.ts'
import { GatewayError } from '../../errors.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import type { operatorModelsContract } from '../contract/operator-models.ts'
import type { HandlersOf } from '../handler.ts'
import { asRefusal } from '../operator-failure.ts'
import type { AdminServices } from '../services.ts'
import { selectPriceHistory } from '../stores/operator-models-store.ts'

function showModel(row: ModelSummary, { catalog }: AdminServices) {
  const { updated_at: updatedAt, prices, routes, limits, details, ...rest } = row
  return {
    ...rest,
    prices: prices.map((one) => ({ ...one })),
    routes: [...routes],
    limits: { ...limits } as Record<string, number>,
    details: { ...details },
    warnings: listWarnings(row, catalog.snapshot().channels),
    updated_at: updatedAt.toISOString(),
  }
}

function listWarnings(row: ModelSummary, channels: ReadonlyMap<string, unknown>): string[] {
  if (row.status !== 'active') return []
  const usable = row.routes.filter(({ channel }) => channels.has(channel))
  return [
    ...(row.routes.length === 0 ? ['no route: calls are refused'] : []),
    ...(row.routes.length > 0 && usable.length === 0 ? ['no route leads to a usable channel'] : []),
    ...(usable.length > 0 && usable.length < row.routes.length
      ? ['some routes lead to channels that cannot be used']
      : []),
    ...(!row.free && row.prices.length === 0 ? ['no price: calls are refused'] : []),
    ...(row.details.example === true ? ['its prices are examples: set your own'] : []),
  ]
}

async function findModel(services: AdminServices, id: string) {
  return await describeModel(services.sql, id).catch((error) => {
    if (!(error instanceof OperatorError)) throw error
    throw new GatewayError('not_found', { message: 'no such model' })
  })
}

export const operatorModelsHandlers: HandlersOf<typeof operatorModelsContract> = {
  async 'GET /operator/models'({ query }, services) {
    const rows = await listModelSummaries(services.sql, query.retired)
    const wanted = query.search?.toLowerCase()
    const found = rows
      .filter(({ type }) => query.type === undefined || type === query.type)
      .filter(({ id }) => wanted === undefined || id.toLowerCase().includes(wanted))
    return { data: found.map((row) => showModel(row, services)) }
  },

  async 'GET /operator/models/:model_id'({ params }, services) {
    const row = await findModel(services, params.model_id)
    const history = await selectPriceHistory(services.sql, row.id)
    return {
      ...showModel(row, services),
      price_history: history.map(({ version, created_at: createdAt, currency, prices }) => ({
        version: version.toString(),
        effective_from: createdAt.toISOString(),
        currency,
        prices: prices.map((one) => ({ ...one })),
      })),
    }
  },

  async 'PUT /operator/models/:model_id'({ params, body, note }, services) {
    const { sql, secrets, upstreams, catalog } = services
    const { currency, ...members } = body
    const options = { sql, secrets, upstreams: Object.fromEntries(upstreams) }
    const model = { ...members, id: params.model_id }
    const edit = editModel({ ...options, environment: process.env }, currency, model)
    const diff = await asRefusal(edit)
    note({ changes: diff.changes.flatMap(({ what }) => what) })
    await catalog.refresh()
    return showModel(await findModel(services, params.model_id), services)
  },

  async 'DELETE /operator/models/:model_id'({ params }, { sql, catalog }) {
    if (!(await retireModel(sql, params.model_id))) {
      throw new GatewayError('not_found', { message: 'no such model' })
    }
    await catalog.refresh()
    return undefined
  },
}
