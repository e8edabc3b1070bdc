/** Plans a task before any money moves: the routes that accept it, and the hold it needs. */

import { GatewayError } from '../../../base/lib/errors.ts'
import type { JsonObject } from '../../../base/lib/json.ts'
import type { TaskKind } from '../../../base/lib/kinds-and-states.ts'
import { type Quantities, unitsOf } from '../../../base/lib/units.ts'
import type { Model, PriceEntry } from '../../../money/catalog/catalog.ts'
import { InvalidRequest } from '../../../wire/dialects/invalid-request.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import {
  type PreparedTask,
  type TaskDriver,
  type TaskOrder,
  withChannel,
} from '../../../wire/upstreams/task-driver.ts'
import { type Quote, quote } from '../../pipeline/hold/quote.ts'
import {
  findUnsold,
  listUnpriced,
  notPriced,
  type RequestedFeature,
  refuseUnsold,
} from '../../pipeline/price/dimensions.ts'
import { boundHold } from '../../pipeline/price/hold-estimate.ts'
import { refuseUnreadable } from '../../pipeline/price/refuse-unreadable.ts'
import { toGatewayError } from '../../pipeline/refusal.ts'
import { orderRoutes, type UsableRoute } from '../../pipeline/request/find-routes.ts'
import type { ResolvedCall } from '../../pipeline/request/resolve.ts'
import type { Services } from '../../pipeline/services.ts'
import { boundTask } from '../finish/charge-task.ts'
import type { DeferredCall } from '../submission.ts'

export interface Plan {
  readonly route: UsableRoute
  readonly prepared: PreparedTask
}

export interface PlannedRoute extends Plan {
  readonly driver: TaskDriver
  readonly order: TaskOrder<unknown>
}

/** The members of a resolved call that a plan reads. */
export interface PlannedCall extends Pick<ResolvedCall, 'routes'> {
  readonly model: Pick<Model, 'details'>
  readonly request: {
    readonly body: Buffer
    /** The names that the caller sent. */
    readonly value: Readonly<Record<string, unknown>>
  }
}

/**
 * Returns the routes that accept the order, in turn: those that accept the recording as it is, or
 * else those that accept it converted. Throws the first refusal if none does.
 */
export function planRoutes(
  kind: TaskKind,
  call: PlannedCall,
  parameters: JsonObject,
  services: Services,
): readonly [PlannedRoute, ...PlannedRoute[]] {
  let refusal: UpstreamFailure | undefined
  const planned: PlannedRoute[] = []
  const { source_channel: only } = parameters
  for (const route of orderRoutes(call.routes, services)) {
    if (only !== undefined && route.channel !== only) continue
    const known = services.upstreams.get(route.target.upstream)?.tasks?.[kind]
    if (!known) continue
    const driver = withChannel(known, route.target.settings)
    const order: TaskOrder<unknown> = {
      settings: route.target.settings,
      upstreamModel: route.upstreamModel,
      parameters,
      sentFields: new Set(Object.keys(call.request.value)),
      details: call.model.details,
    }
    try {
      planned.push({ route, driver, order, prepared: driver.prepare(order) })
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      refusal ??= error
    }
  }
  const taken = planned.filter(({ prepared }) => !prepared.untaken)
  const [first, ...rest] = taken.length > 0 ? taken : planned
  if (!first)
    throw toGatewayError(refusal ?? new UpstreamFailure('channel_fault'), call.request.body)
  return [first, ...rest]
}

/**
 * Returns the routes of a deferred call, all at the same price, and its quote as a call. Throws the
 * first refusal if every upstream refuses the request in advance.
 */
export function planCall(
  { metering, removed }: DeferredCall,
  call: ResolvedCall,
  services: Services,
): { readonly plans: readonly [Plan, ...Plan[]]; readonly quoted: Quote } {
  const { operation } = metering
  const members = Object.entries(call.request.value)
  const value = Object.fromEntries(members.filter(([name]) => !removed.includes(name)))
  const { quoted } = quote(metering, call, services)
  const { quantities, facts } = quoted
  const prepared = { quantities, facts }
  let refusal: InvalidRequest | undefined
  const plans = orderRoutes(call.routes, services).flatMap((route) => {
    const judge = services.upstreams.get(route.target.upstream)?.judges?.[operation]
    const refused = judge && refusalOf(() => judge(value, route.upstreamModel))
    refusal ??= refused
    return refused ? [] : [{ route, prepared }]
  })
  const [first, ...rest] = plans
  if (first) return { plans: [first, ...rest], quoted }
  if (!refusal) throw new GatewayError('upstream_failed')
  const { message, param } = refusal
  throw new GatewayError('invalid_request', { message, param })
}

function refusalOf(judge: () => void): InvalidRequest | undefined {
  try {
    judge()
    return undefined
  } catch (error) {
    if (error instanceof InvalidRequest) return error
    throw error
  }
}

/** Returns the highest quote of all routes, which the hold reserves. */
export function quoteTask(
  { model, request }: Pick<ResolvedCall, 'model' | 'request'>,
  routes: readonly [Plan, ...Plan[]],
): Quote {
  refuseUnreadable(model, request.value)
  const isSold = ({ prepared }: Plan) =>
    !findUnsold(model.prices, prepared.quantities, prepared.facts)
  refuseFree(model, routes)
  const [fee] = routes.flatMap(({ prepared }) => listUnpriced(model, feesOf(prepared), []))
  if (fee) throw notPriced(model, fee)
  if (!routes.some(isSold)) {
    const { quantities, facts } = routes[0].prepared
    refuseUnsold(model, quantities, facts)
  }
  const [first, ...rest] = routes.map(({ prepared }) => boundOf(model, prepared))
  if (!first) throw new GatewayError('upstream_failed')
  return rest.reduce((a, b) => (b.amountNanos > a.amountNanos ? b : a), first)
}

/** Throws a 400 if the model has no price for anything that the order is billed by. */
function refuseFree({ id, free, prices }: Model, routes: readonly [Plan, ...Plan[]]): void {
  const [{ prepared }] = routes
  const counted = routes.map((route) => countedOf(route.prepared.quantities))
  const isCounted = ({ unit }: PriceEntry) =>
    unit === 'vendor_cost' || counted.some((quantities) => (quantities[unit] ?? 0) > 0)
  if (free || prices.some(isCounted)) return
  const units = unitsOf(prepared.quantities).join(', ')
  throw new GatewayError('invalid_request', {
    message: `model: '${id}' is not sold: it has no price for ${units}, which its orders count`,
    param: 'model',
    code: 'not_priced',
  })
}

const countedOf = (quantities: Quantities): Quantities => ({ task: 1, call: 1, ...quantities })

/** Returns the number of vendor searches that an order requests, each of which has a fee. */
function feesOf({ quantities }: PreparedTask): readonly RequestedFeature[] {
  const { web_search_call: searches = 0 } = quantities
  return searches > 0 ? [{ field: 'tools', value: 'web_search', unit: 'web_search_call' }] : []
}

function boundOf(model: Model, { quantities: planned, most, facts }: PreparedTask): Quote {
  const quantities = countedOf(planned)
  const held = {
    quantities,
    alternatives: [facts],
    channels: [facts],
    ceiling: boundTask(model.type, quantities, facts),
  } as const
  const amountNanos = boundHold(model, held)
  const largest = { ...held, quantities: { ...quantities, ...most } }
  const excessNanos = most ? boundHold(model, largest) - amountNanos : 0n
  return { ...held, facts, amountNanos, ...(excessNanos > 0n ? { excessNanos } : {}) }
}
