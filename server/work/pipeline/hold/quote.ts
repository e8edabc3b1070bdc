/**
 * Verb 4: estimates the cost of the call at each model that may serve it, and refuses options
 * without a price.
 */

import { GatewayError } from '../../../base/lib/errors.ts'
import type { Nanos } from '../../../base/lib/money.ts'
import type { Unit } from '../../../base/lib/units.ts'
import type { Facts, Model } from '../../../money/catalog/catalog.ts'
import { clockFacts } from '../../../money/catalog/price/clock.ts'
import { countOnce } from '../../../money/catalog/price/price.ts'
import type { Estimate, Metering, TextRequest } from '../metering.ts'
import { isSoldByTokens } from '../price/charge.ts'
import {
  listUnpriced,
  NO_DIMENSIONS,
  notPriced,
  type RequestedDimensions,
  type RequestedFeature,
  refuseUnsold,
  sellsSearch,
  type ToolOffer,
} from '../price/dimensions.ts'
import { boundHold, type HoldEstimate, type OtherModelWork } from '../price/hold-estimate.ts'
import type { UsableRoute } from '../request/find-routes.ts'
import type { FallbackTarget, ResolvedCall } from '../request/resolve.ts'
import type { Services } from '../services.ts'
import { channelFactsOf, type SentBy, sentBy, sentFacts, translates } from './sent-facts.ts'
import { addToolFacts } from './tool-facts.ts'

export interface Quote extends HoldEstimate {
  readonly amountNanos: Nanos
  /** The possible cost beyond the hold, where the input is not all in the request. */
  readonly excessNanos?: Nanos
  /**
   * The price conditions of the request, which apply if the answer does not state how it was
   * served.
   */
  readonly facts: Facts
  /** The thinking that applies instead if the request is translated. */
  readonly translatedThinking?: RequestedDimensions['translatedThinking']
  readonly streamTokens?: number | undefined
}

/** A call as one model would serve it, at that model's price. */
export interface QuotedCall {
  /** The request without the tools that the model has no price for. */
  readonly call: ResolvedCall
  readonly quoted: Quote
}

type Upstreams = Pick<Services, 'upstreams'>

/**
 * Returns the quote for the request without the tools that it only offers and that the model has no
 * price for. Throws a 400 that names any other requested option without a price.
 */
export function quote(metering: Metering, call: ResolvedCall, services: Upstreams): QuotedCall {
  const estimated = estimate(metering, call, services)
  const [first, ...more] = listUnpriced(call.model, estimated.sent, metering.needs ?? [])
  if (!first) return { call, quoted: toQuote(call, estimated, services) }
  const reduced = takeOut(metering, call, [first, ...more])
  const second = estimate(metering, reduced, services)
  const [left] = listUnpriced(call.model, second.sent, metering.needs ?? [])
  if (left) throw notPriced(call.model, left)
  return { call: reduced, quoted: toQuote(reduced, second, services) }
}

/** Returns the call without the features. Throws a 400 that names one that must stay. */
function takeOut(
  metering: Metering,
  call: ResolvedCall,
  unpriced: readonly [RequestedFeature, ...RequestedFeature[]],
): ResolvedCall {
  const { model } = call
  const fixed = unpriced.find(({ offer }) => !offer)
  if (fixed) throw notPriced(model, fixed)
  if (!metering.takeOut || model.unpricedTools === 'refuse') throw notPriced(model, unpriced[0])
  const offers = unpriced.flatMap(({ offer }) => offer ?? [])
  const taken = metering.takeOut(call.request, offers)
  if ('request' in taken) return withRequest(metering, call, taken.request, offers)
  const demanded = unpriced.find(({ offer }) => offer === taken.demanded) ?? unpriced[0]
  throw notPriced(model, demanded, 'and the request demands it or has used it')
}

function withRequest(
  metering: Metering,
  call: ResolvedCall,
  request: TextRequest,
  offers: readonly ToolOffer[],
): ResolvedCall {
  const { value, body } = request
  const estimateInputTokens = () => metering.inputTokens(value, body.length)
  return {
    ...call,
    request: { ...call.request, ...request, estimateInputTokens },
    takenOut: offers,
  }
}

interface Estimated {
  readonly estimate: Estimate
  /** The features that at least one route's vendor receives. */
  readonly sent: readonly RequestedFeature[]
  /** The part of each route that decides what its vendor receives. */
  readonly ways: readonly SentBy[]
}

function estimate(
  metering: Metering,
  { request, model, routes, chain }: ResolvedCall,
  services: Upstreams,
): Estimated {
  const { value, body, fields, headers, file } = request
  const estimated = metering.quote({
    value,
    body,
    fields,
    headers,
    model,
    chain,
    searchesAlways: searchesAlways(routes, services),
    fileBytes: file?.bytes ?? 0,
    fileSeconds: file?.seconds ?? 0,
    fileFault: file?.fault,
  })
  const { features } = estimated.dimensions ?? NO_DIMENSIONS
  const isSearchSold = sellsSearch(model)
  const sent = features.filter((one) => {
    const isSearch = isSearchSold && one.unit === 'web_search_call'
    const kept = { isSearch, isMark: one.isMark === true }
    return !one.isDropped || isSent(metering, routes, services, kept)
  })
  const isTranslated = isSearchSold && translatesSearch(metering, routes, services)
  const ways = routes.map((route) => sentBy(metering, route, services))
  return { estimate: estimated, sent: isTranslated ? sent.map(asTranslated) : sent, ways }
}

/**
 * For a search in another dialect, the hold follows what its translator allows; not every vendor
 * accepts a limit.
 */
function asTranslated(one: RequestedFeature): RequestedFeature {
  const { quantity = 0, translatedQuantity = 0 } = one
  if (translatedQuantity <= quantity) return one
  return { ...one, quantity: translatedQuantity, isUnlimited: true }
}

function translatesSearch(
  metering: Metering,
  routes: readonly UsableRoute[],
  services: Upstreams,
): boolean {
  return routes.some(({ target }) => {
    const { translatesSearch } = services.upstreams.get(target.upstream) ?? {}
    return translatesSearch === true && translates(metering, target, services)
  })
}

function toQuote(
  { model, routes }: ResolvedCall,
  { estimate: estimated, sent, ways }: Estimated,
  services: Upstreams,
): Quote {
  const { quantities, most, ceiling, streamTokens, dimensions } = estimated
  const { alternatives, translatedThinking } = dimensions ?? NO_DIMENSIONS
  if (!isSoldByTokens(model)) refuseUnsold(model, quantities, alternatives[0])
  const channels = routes.map((route) => channelFactsOf(route, services))
  const all = addSentWays(alternatives, ways, translatedThinking)
  const holdEstimate: HoldEstimate = {
    quantities: addFees(countOnce(model.prices, quantities), [
      ...sent,
      ...listOwnSearches(routes, sent, services),
    ]),
    alternatives: addClockFacts(addToolFacts(all, sent, model), model),
    channels,
    works: sent.flatMap(workOf),
    ceiling,
  }
  const amountNanos = boundHold(model, holdEstimate)
  const largest = mostOf(holdEstimate.quantities, most, sent)
  const excessNanos =
    largest && boundHold(model, { ...holdEstimate, quantities: largest }) - amountNanos
  return {
    ...holdEstimate,
    streamTokens,
    facts: holdEstimate.alternatives[0],
    translatedThinking,
    amountNanos,
    ...(excessNanos && excessNanos > 0n ? { excessNanos } : {}),
  }
}

/**
 * Adds the ways in which the request may be served, depending on which parts its vendors receive.
 */
function addSentWays(
  alternatives: HoldEstimate['alternatives'],
  ways: readonly SentBy[],
  translatedThinking: RequestedDimensions['translatedThinking'],
): HoldEstimate['alternatives'] {
  const [{ region, speed, service_tier: tier, thinking }] = alternatives
  const isSame = [region, speed, tier, thinking, translatedThinking].every(
    (one) => one === undefined,
  )
  if (isSame) return alternatives
  const sent = ways.flatMap((way) =>
    alternatives.map((facts) => sentFacts(facts, way, translatedThinking)),
  )
  const [first, ...others] = alternatives
  return [first, ...others, ...sent]
}

/** Adds the `clock` conditions of this moment, and those after a boundary that is near. */
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

const NO_FACTS: Facts = {}

/**
 * Returns true if any channel gets the option: untranslated, or as one that its translator keeps: a
 * search that the model sells, a mark for a cache.
 */
function isSent(
  metering: Metering,
  routes: readonly UsableRoute[],
  services: Upstreams,
  { isSearch, isMark }: { readonly isSearch: boolean; readonly isMark: boolean },
): boolean {
  return routes.some(({ target }) => {
    const upstream = services.upstreams.get(target.upstream)
    if (isSearch && upstream?.translatesSearch) return true
    if (isMark && upstream?.translatesMarks) return true
    return !translates(metering, target, services)
  })
}

/** Calls of a tool that a vendor may make where the request sets no limit. */
const CALLS_MOST = 100

/**
 * Returns the possible cost of the call beyond its hold, if the input is not all in the request.
 */
function mostOf(
  held: HoldEstimate['quantities'],
  most: Estimate['most'],
  features: readonly RequestedFeature[],
): HoldEstimate['quantities'] | undefined {
  const calls = features.flatMap(({ unit, isUnlimited }) =>
    unit && isUnlimited ? [[unit, Math.max(held[unit] ?? 0, CALLS_MOST)] as const] : [],
  )
  if (!most && calls.length === 0) return undefined
  return { ...held, ...most, ...Object.fromEntries(calls) }
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

/** A model may search for each answer, so the hold covers one search even if none is requested. */
function listOwnSearches(
  routes: readonly UsableRoute[],
  features: readonly RequestedFeature[],
  services: Upstreams,
): readonly RequestedFeature[] {
  if (features.some(({ unit }) => unit === OWN_SEARCH.unit)) return []
  return searchesAlways(routes, services) ? [OWN_SEARCH] : []
}

function searchesAlways(routes: readonly UsableRoute[], { upstreams }: Upstreams): boolean {
  return routes.some(
    ({ target, upstreamModel }) =>
      upstreams.get(target.upstream)?.searchesAlways?.(upstreamModel) === true,
  )
}

const OWN_SEARCH = {
  field: 'model',
  value: 'web search',
  unit: 'web_search_call',
  quantity: 1,
} as const satisfies RequestedFeature

/** A call as another model would serve it. */
export interface FallbackCall extends QuotedCall {
  /** True if the caller lists the model: any refusal then leads to it. */
  readonly isListed: boolean
}

export interface Quotes extends QuotedCall {
  readonly fallbacks: readonly FallbackCall[]
  /** The quote that the hold is taken for, with the call as its model would serve it. */
  readonly mostExpensive: QuotedCall
}

/** Throws a 400 that names a requested option without a price at the model or at a listed one. */
export function quoteAll(
  metering: Metering,
  call: ResolvedCall,
  services: Pick<Services, 'upstreams'>,
): Quotes {
  const first = quote(metering, call, services)
  const fallbacks = (call.fallbacks ?? []).flatMap((target): FallbackCall[] => {
    const other = serveBy(call, target)
    const found = quoteFallback(metering, other, target, services)
    return found ? [{ ...found, isListed: target.field !== undefined }] : []
  })
  const mostExpensive = fallbacks.reduce<QuotedCall>(
    (most, one) => (one.quoted.amountNanos > most.quoted.amountNanos ? one : most),
    first,
  )
  return { ...first, fallbacks, mostExpensive }
}

function serveBy(call: ResolvedCall, { model, routes }: FallbackTarget): ResolvedCall {
  return { ...call, model, routes, request: { ...call.request, model: model.id } }
}

/** Returns undefined for a model of the operator that cannot price the request. */
function quoteFallback(
  metering: Metering,
  call: ResolvedCall,
  { field }: FallbackTarget,
  services: Pick<Services, 'upstreams'>,
): QuotedCall | undefined {
  try {
    return quote(metering, call, services)
  } catch (error) {
    if (field === undefined && error instanceof GatewayError) return undefined
    throw error
  }
}
