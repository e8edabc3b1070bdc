/** Verb 4: estimates the cost of the call, and refuses options without a price. */
import type { Facts, Model } from '../../catalog/catalog.ts'
import { clockFacts } from '../../catalog/price/clock.ts'
import { countOnce } from '../../catalog/price/price.ts'
import type { Nanos } from '../../lib/money.ts'
import type { Unit } from '../../lib/units.ts'
import type { Metering } from '../metering.ts'
import { isSoldByTokens } from '../price/charge.ts'
import {
  NO_DIMENSIONS,
  type RequestedFeature,
  refuseUnpriced,
  refuseUnsold,
  sellsSearch,
} from '../price/dimensions.ts'
import { boundHold, type HoldEstimate, type OtherModelWork } from '../price/hold-estimate.ts'
import type { UsableRoute } from '../request/find-routes.ts'
import type { ResolvedCall } from '../request/resolve.ts'
import type { Services } from '../services.ts'

export interface Quote extends HoldEstimate {
  readonly amountNanos: Nanos
  /** The facts of the request; they apply if the answer does not state how it was served. */
  readonly facts: Facts
  readonly streamTokens?: number | undefined
}

/** Returns the quote. Throws a 400 that names a requested option without a price at the model. */
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
  const isSearchSold = sellsSearch(model)
  const sent = features.filter((one) => {
    const isSearch = isSearchSold && one.unit === 'web_search_call'
    return !one.isDropped || isSent(metering, routes, services, isSearch)
  })
  refuseUnpriced(model, sent, metering.needs ?? [])
  if (!isSoldByTokens(model)) refuseUnsold(model, estimate.quantities, alternatives[0])
  const holdEstimate: HoldEstimate = {
    quantities: addFees(countOnce(model.prices, estimate.quantities), sent),
    alternatives: addClockFacts(alternatives, model),
    channels: routes.map((route) => channelFactsOf(route, services)),
    works: sent.flatMap(workOf),
    ceiling: estimate.ceiling,
  }
  const amountNanos = boundHold(model, holdEstimate)
  return {
    ...holdEstimate,
    streamTokens: estimate.streamTokens,
    facts: holdEstimate.alternatives[0],
    amountNanos,
  }
}

/** Adds the `clock` facts of this moment, and those beyond a boundary that is near. */
function addClockFacts(
  alternatives: HoldEstimate['alternatives'],
  model: Model,
): HoldEstimate['alternatives'] {
  if (model.details.peak_hours === undefined) return alternatives
  const hours = clockFacts(model, new Date()).alternatives
  const [first = NO_FACTS, ...others] = hours
  if (hours.length <= 1 && Object.keys(first).length === 0) return alternatives
  const [requested, ...rest] = alternatives
  return [
    { ...first, ...requested },
    ...others.map((hour) => ({ ...hour, ...requested })),
    ...rest.flatMap((facts) => hours.map((hour) => ({ ...hour, ...facts }))),
  ]
}

/** Returns the price facts from the settings of a route's channel. */
export function channelFactsOf(
  { target }: Pick<UsableRoute, 'target'>,
  { upstreams }: Pick<Services, 'upstreams'>,
): Facts {
  return upstreams.get(target.upstream)?.priceFacts?.(target.settings) ?? NO_FACTS
}

const NO_FACTS: Facts = {}

/**
 * Returns true if any channel gets the option: untranslated, or a search that its model sells.
 * Translators drop all others.
 */
function isSent(
  { operation }: Metering,
  routes: readonly UsableRoute[],
  { upstreams }: Pick<Services, 'upstreams'>,
  isSearch: boolean,
): boolean {
  return routes.some(({ target }) => {
    const upstream = upstreams.get(target.upstream)
    if (isSearch && upstream?.translatesSearch) return true
    return upstream?.translates?.(operation, target.settings) !== true
  })
}

function addFees(quantities: HoldEstimate['quantities'], features: readonly RequestedFeature[]) {
  if (features.length === 0) return quantities
  const fees: { -readonly [U in Unit]?: number } = { ...quantities }
  for (const { unit, quantity } of features) {
    if (unit && quantity) fees[unit] = Math.min((fees[unit] ?? 0) + quantity, 2 ** 50)
  }
  return fees
}

function workOf({ facts, work }: RequestedFeature): OtherModelWork[] {
  return facts && work ? [{ facts, quantities: work }] : []
}
