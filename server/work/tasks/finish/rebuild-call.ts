/**
 * Rebuilds the call of a task that is charged by its endpoint's own metering: a background response
 * or a deferred call. Prices and quote are those of its hold.
 */
import { readPrices } from '../../../money/catalog/load/load-model.ts'
import { UpstreamFailure } from '../../../wire/upstreams/failure.ts'
import type { CallRequest } from '../../../wire/upstreams/upstream.ts'
import type { Quote } from '../../pipeline/hold/quote.ts'
import type { BillableCall } from '../../pipeline/hold/take-hold.ts'
import type { Metering } from '../../pipeline/metering.ts'
import type { UsableRoute } from '../../pipeline/request/find-routes.ts'
import type { ResolvedCall } from '../../pipeline/request/resolve.ts'
import { type Engine, openChannel } from '../engine.ts'
import type { ClaimedTask } from '../task.ts'
import { basePricesOf, heldFor, isStored, typeOf } from './charge-task.ts'

/** Returns the call as it was quoted. */
export function rebuildCall(
  { services }: Pick<Engine, 'services'>,
  task: ClaimedTask,
  metering: Metering,
  request: CallRequest,
): BillableCall {
  const { facts, hold_amount: amountNanos } = task
  const quote = { ...heldFor(task), facts, ...task.quote }
  return {
    metering,
    call: { model: modelOf(services, task), request },
    quoted: { ...quote, amountNanos } as Quote,
    services,
  }
}

/** The origin of a hold's prices no longer matters here. */
const PINNED = { prices: true } as const

function modelOf({ catalog }: Engine['services'], task: ClaimedTask): ResolvedCall['model'] {
  const type = typeOf(task)
  const current = catalog.snapshot().models.get(task.model)
  const { price_version: priceVersion, price_list: list, base_version: baseVersion } = task
  return {
    id: task.model,
    limits: {},
    routes: [],
    details: {},
    plannedPrices: [],
    updatedAt: task.created_at,
    ...current,
    type,
    currency: task.currency ?? current?.currency ?? '',
    free: task.prices === null,
    prices: readPrices(isStored(task.prices) ? task.prices : [], type),
    priceVersion,
    ...(list === null
      ? {}
      : { list: { id: list, origin: PINNED, baseVersion, basePrices: basePricesOf(task, type) } }),
  }
}

/** Rebuilds the route of the attempt, with its upstream costs of that time. */
export async function rebuildRoute(engine: Engine, task: ClaimedTask): Promise<UsableRoute> {
  const {
    channel_id: channel,
    upstream_model: upstreamModel,
    upstream_cost_version: version,
    costs_currency: currency,
  } = task
  const entries = isStored(task.costs) ? readPrices(task.costs, typeOf(task)) : undefined
  const target = await openChannel(engine, task).catch((error: unknown) => {
    // If the channel no longer exists, only its settings are unknown; the charge is the same.
    if (!(error instanceof UpstreamFailure)) throw error
    return { id: channel, upstream: '', version: task.channel_version, settings: {} }
  })
  return {
    channel,
    upstreamModel,
    target,
    priority: 0,
    weight: 1,
    ...(entries && version !== null && currency !== null
      ? { cost: { version, currency, entries } }
      : {}),
  }
}
