/** The catalog as customers see it: models and prices, without channels. */

import { toPage } from '../../../../base/http/page.ts'
import { CALL_LIMITS } from '../../../../base/lib/kinds-and-states.ts'
import { selectPayer } from '../../../../money/accounts/price-list-store.ts'
import { isSoldIn, type Model } from '../../../../money/catalog/catalog.ts'
import { priceNameOf } from '../../../../money/catalog/list.ts'
import { readPrices } from '../../../../money/catalog/load/load-model.ts'
import { viewOf } from '../../../../work/pipeline/request/customer-view.ts'
import { describeCallableModel, describePrices } from '../../../endpoints/account/models.ts'
import type { HandlersOf } from '../../handler.ts'
import { type PriceVersionRow, selectPriceHistory } from '../../operator/models/store.ts'
import { found } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import type { modelsContract } from './contract.ts'

/** Limits that affect callers; timeouts towards upstreams are not among them. */
const PUBLIC_LIMITS = [...CALL_LIMITS, 'max_output_tokens', 'max_input_tokens'] as const

function describe(model: Model, services: AdminServices) {
  const shown = describeCallableModel(model, services)
  const { id, owned_by, display_name, prices, free, endpoints, fields = null } = shown
  const { description } = model.details
  const limits = PUBLIC_LIMITS.flatMap((name) => {
    const limit = model.limits[name]
    return limit === undefined ? [] : [[name, limit] as const]
  })
  return {
    id,
    type: model.type,
    display_name,
    owned_by,
    description: typeof description === 'string' ? description : null,
    free,
    currency: model.currency,
    prices,
    price_version: model.priceVersion,
    limits: Object.fromEntries(limits),
    endpoints,
    fields,
    updated_at: model.updatedAt,
  }
}

function names(model: Model, search: string): boolean {
  const searchText = search.toLowerCase()
  const { display_name: name } = model.details
  const texts = [model.id, typeof name === 'string' ? name : '']
  return texts.some((text) => text.toLowerCase().includes(searchText))
}

const hasHeld = ({ withdrawn, is_planned, prices }: PriceVersionRow) =>
  !withdrawn && !is_planned && prices.length > 0

export const modelsHandlers: HandlersOf<typeof modelsContract> = {
  async 'GET /accounts/:account_id/models'({ params, query }, services) {
    const { type, search = '', limit, cursor = '' } = query
    const payer = found(await selectPayer(services.sql, params.account_id), 'account')
    const models = [...viewOf(payer, services).models.values()]
      .filter((model) => isSoldIn(model, payer.currency))
      .filter((model) => (!type || model.type === type) && names(model, search))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
    const rest = models.filter(({ id }) => id > cursor)
    const page = toPage(rest, limit, 'id')
    return { ...page, data: page.data.map((model) => describe(model, services)) }
  },
  async 'GET /accounts/:account_id/models/:model_id'({ params }, services) {
    const payer = found(await selectPayer(services.sql, params.account_id), 'account')
    const model = found(viewOf(payer, services).models.get(params.model_id), 'model')
    const history = await selectPriceHistory(services.sql, priceNameOf(model))
    return {
      ...describe(model, services),
      // Planned prices and prices that never took effect are not public.
      price_history: history.filter(hasHeld).map((row) => ({
        ...row,
        prices: describePrices(readPrices(row.prices)),
      })),
    }
  },
}
