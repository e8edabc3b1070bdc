/**
 * Price conditions of a request that apply if the answer does not state them. A caller cannot
 * choose the price with parts of the request that the vendor does not receive, or that do not
 * decide how it serves.
 */
import type { Facts } from '../../../money/catalog/catalog.ts'
import type { Metering } from '../metering.ts'
import type { RequestedDimensions } from '../price/dimensions.ts'
import type { UsableRoute } from '../request/find-routes.ts'
import type { Services } from '../services.ts'

type Upstreams = Pick<Services, 'upstreams'>

/** Returns true if the channel gets requests of this operation in another dialect. */
export function translates(
  { operation }: Pick<Metering, 'operation'>,
  { upstream, settings }: UsableRoute['target'],
  { upstreams }: Upstreams,
): boolean {
  return upstreams.get(upstream)?.translates?.(operation, settings) === true
}

/** Returns the price facts from the settings of a route's channel. */
export function channelFactsOf(
  { target }: Pick<UsableRoute, 'target'>,
  { upstreams }: Upstreams,
): Facts {
  return upstreams.get(target.upstream)?.priceFacts?.(target.settings) ?? NO_FACTS
}

const NO_FACTS: Facts = {}

/** The part of a route that decides what its vendor gets. */
export interface SentBy {
  readonly isTranslated: boolean
  /** True if the vendor may read `speed`, and `inference_geo` if its host allows the choice. */
  readonly readsSpeed: boolean
  readonly readsRegion: boolean
}

/** Only untranslated messages requests have members for speed and region. */
export function sentBy(
  metering: Pick<Metering, 'operation'>,
  route: Pick<UsableRoute, 'target'>,
  services: Upstreams,
): SentBy {
  const isTranslated = translates(metering, route.target, services)
  const readsSpeed = metering.operation === 'messages' && !isTranslated
  const readsRegion = readsSpeed && channelFactsOf(route, services).region === undefined
  return { isTranslated, readsSpeed, readsRegion }
}

export function sentFacts(
  { region, speed, service_tier: tier, thinking, ...others }: Facts,
  { isTranslated, readsSpeed, readsRegion }: SentBy,
  translatedThinking: RequestedDimensions['translatedThinking'],
): Facts {
  // A translation omits the standard tier, so the account's default tier applies, which may be
  // another one.
  const keepsTier = tier !== undefined && !(isTranslated && tier === 'standard')
  const sentThinking = isTranslated ? translatedThinking : thinking
  return {
    ...others,
    ...(keepsTier ? { service_tier: tier } : {}),
    ...(region !== undefined && readsRegion ? { region } : {}),
    ...(speed !== undefined && readsSpeed ? { speed } : {}),
    ...(sentThinking === undefined ? {} : { thinking: sentThinking }),
  }
}
