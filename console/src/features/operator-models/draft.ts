/** A model as form values, and its conversion to a request. */

import { InvalidField } from '../../components/form/invalid-field.ts'
import type { Change } from '../../components/form/list-changes.ts'
import {
  NEW_PRICE,
  type PlainPrice,
  type PriceDraft,
  toPriceDraft,
  toPrices,
} from '../../components/form/prices/price-draft.ts'

export interface RouteDraft {
  readonly channel: string
  readonly upstreamModel: string
  readonly priority: string
  readonly weight: string
  /** Upstream costs; empty if unknown. */
  readonly costs: readonly PriceDraft[]
}

interface Fallback {
  readonly model: string
  readonly priority: number
}

/** The treatment of tools of the vendor's that have no price. */
export type Routing = 'priority' | 'cheapest'
export type UnpricedTools = 'take_out' | 'refuse'

export interface ModelDraft {
  readonly id: string
  readonly type: string
  readonly currency: string
  readonly isFree: boolean
  readonly prices: readonly PriceDraft[]
  readonly routes: readonly RouteDraft[]
  /** Routes to other models, which files define. */
  readonly fallbacks: readonly Fallback[]
  readonly unpricedTools: UnpricedTools
  readonly routing: Routing
  readonly limits: string
  readonly details: string
}

export const NEW_ROUTE: RouteDraft = {
  channel: '',
  upstreamModel: '',
  priority: '0',
  weight: '1',
  costs: [],
}

export const NEW_DRAFT: ModelDraft = {
  id: '',
  type: 'chat',
  currency: 'CNY',
  isFree: false,
  prices: [NEW_PRICE, { ...NEW_PRICE, unit: 'output_token' }],
  routes: [NEW_ROUTE],
  fallbacks: [],
  unpricedTools: 'take_out',
  routing: 'priority',
  limits: '',
  details: '',
}

interface StoredModel {
  readonly id: string
  readonly type: string
  readonly currency: string | null
  readonly free: boolean
  readonly prices: readonly PlainPrice[]
  readonly routes: readonly {
    readonly channel: string
    readonly upstream_model: string
    readonly priority: number
    readonly weight: number
    readonly costs?: readonly PlainPrice[] | undefined
  }[]
  readonly fallbacks: readonly Fallback[]
  readonly unpriced_tools: UnpricedTools
  readonly routing: Routing
  readonly limits: object
  readonly details: object
}

export function toModelDraft(model: StoredModel): ModelDraft {
  return {
    id: model.id,
    type: model.type,
    currency: model.currency ?? 'CNY',
    isFree: model.free,
    prices: model.prices.map(toPriceDraft),
    routes: model.routes.map((route) => ({
      channel: route.channel,
      upstreamModel: route.upstream_model,
      priority: String(route.priority),
      weight: String(route.weight),
      costs: (route.costs ?? []).map(toPriceDraft),
    })),
    fallbacks: model.fallbacks,
    unpricedTools: model.unpriced_tools,
    routing: model.routing,
    limits: toJson(model.limits),
    details: toJson(model.details),
  }
}

function toJson(value: object): string {
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2)
}

/** The server's name of a field, and the text for one that is not JSON. */
interface JsonPlace {
  readonly param: string
  readonly badJson: string
}

/** Returns the body of PUT /operator/models/:model_id. Throws InvalidField with `badJson`. */
export function toModelBody(draft: ModelDraft, badJson: string) {
  return {
    type: draft.type,
    currency: draft.currency,
    ...(draft.isFree ? { free: true } : { prices: toPrices(draft.prices) }),
    routes: [...draft.routes.map(toRoute), ...draft.fallbacks.map((one) => ({ ...one }))],
    unpriced_tools: draft.unpricedTools,
    routing: draft.routing,
    limits: readObject({ param: 'limits', badJson }, draft.limits),
    details: readObject({ param: 'details', badJson }, draft.details),
  }
}

/** Returns the planned prices that a save withdraws: those in another currency than the model's. */
export function listWithdrawn(
  before: Pick<ModelDraft, 'currency'>,
  after: Pick<ModelDraft, 'currency' | 'isFree'>,
  planned: readonly { readonly effective_from: string }[],
): Change[] {
  if (after.currency === before.currency && !after.isFree) return []
  return planned.map((plan, at) => ({ path: `planned_prices[${at}]`, before: plan.effective_from }))
}

function toRoute({ channel, upstreamModel, priority, weight, costs }: RouteDraft) {
  return {
    channel,
    ...(upstreamModel.trim() === '' ? {} : { upstream_model: upstreamModel.trim() }),
    priority: Number(priority),
    weight: Number(weight),
    ...(costs.length === 0 ? {} : { costs: toPrices(costs) }),
  }
}

function readObject(place: JsonPlace, text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Refused below, like what is no object.
  }
  throw refuse(place)
}

function refuse({ param, badJson }: JsonPlace): InvalidField {
  return new InvalidField(param, badJson)
}
