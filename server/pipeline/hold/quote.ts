/** Verb 4: what should it come to, and has all that is asked for a price? */
import type { Facts, Model } from '../../catalog/catalog.ts'
import { clockFacts } from '../../catalog/price/clock.ts'
import { countOnce } from '../../catalog/price/price.ts'
import type { Nanos } from '../../lib/money.ts'
import type { Unit } from '../../lib/units.ts'
import type { Metering } from '../metering.ts'
import { isSoldByTokens } from '../price/charge.ts'
import {
  type AskedFeature,
  NO_DIMENSIONS,
  refuseUnpriced,
  refuseUnsold,
} from '../price/dimensions.ts'
import { boundHold, type Held, type HeldWork } from '../price/held.ts'
import type { ResolvedCall, UsableRoute } from '../request/resolve.ts'
import type { Services } from '../services.ts'

export interface Quote extends Held {
  readonly amountNanos: Nanos
  /** What the caller asked for, which counts where the answer does not say how it was served. */
  readonly facts: Facts
  readonly streamTokens?: number | undefined
}

/** Throws a 400 that names a field which asks for what the model has no price for. */
export function quote(
  metering: Metering,
  { request, model, routes, chain }: ResolvedCall,
  services: Pick<Services, 'upstreams'>,
): Quote {
  const { value, body, fields, headers, file } = request
  const estimate = metering.quote({
    value,
    body,
    fields,
    headers,
    model,
    chain,
    fileBytes: file?.bytes ?? 0,
    fileSeconds: file?.seconds ?? 0,
  })
  const { alternatives, features } = estimate.dimensions ?? NO_DIMENSIONS
  const sent = features.filter((one) => !one.isDropped || isSent(metering, routes, services))
  refuseUnpriced(model, sent, metering.needs ?? [])
  if (!isSoldByTokens(model)) refuseUnsold(model, estimate.quantities, alternatives[0])
  const held: Held = {
    quantities: addFees(countOnce(model.prices, estimate.quantities), sent),
    alternatives: atAnyHour(alternatives, model),
    channels: routes.map((route) => channelFactsOf(route, services)),
    works: sent.flatMap(workOf),
    ceiling: estimate.ceiling,
  }
  const amountNanos = boundHold(model, held)
  return { ...held, streamTokens: estimate.streamTokens, facts: held.alternatives[0], amountNanos }
}

/** The same by the clock of arrival, and by the other hours too where a border is near. */
function atAnyHour(alternatives: Held['alternatives'], model: Model): Held['alternatives'] {
  if (model.details.peak_hours === undefined) return alternatives
  const hours = clockFacts(model, new Date()).alternatives
  const [first = NO_FACTS, ...others] = hours
  if (hours.length <= 1 && Object.keys(first).length === 0) return alternatives
  const [asked, ...rest] = alternatives
  return [
    { ...first, ...asked },
    ...others.map((hour) => ({ ...hour, ...asked })),
    ...rest.flatMap((facts) => hours.map((hour) => ({ ...hour, ...facts }))),
  ]
}

/** What the settings of a route's channel say of the price of every call through it. */
export function channelFactsOf(
  { target }: Pick<UsableRoute, 'target'>,
  { upstreams }: Pick<Services, 'upstreams'>,
): Facts {
  return upstreams.get(target.upstream)?.priceFacts?.(target.settings) ?? NO_FACTS
}

const NO_FACTS: Facts = {}

/** Whether any channel may get the request as it is: a translator sends what it knows alone. */
function isSent(
  { operation }: Metering,
  routes: readonly UsableRoute[],
  { upstreams }: Pick<Services, 'upstreams'>,
): boolean {
  return routes.some(({ target }) => {
    return upstreams.get(target.upstream)?.translates?.(operation, target.settings) !== true
  })
}

function addFees(quantities: Held['quantities'], features: readonly AskedFeature[]) {
  if (features.length === 0) return quantities
  const fees: { -readonly [U in Unit]?: number } = { ...quantities }
  for (const { unit, quantity } of features) {
    if (unit && quantity) fees[unit] = Math.min((fees[unit] ?? 0) + quantity, 2 ** 50)
  }
  return fees
}

function workOf({ facts, work }: AskedFeature): HeldWork[] {
  return facts && work ? [{ facts, quantities: work }] : []
}
