/**
 * Price dimensions of a request: options that change the price of a call. An option that the model
 * has no price for is refused before a hold is taken.
 */

import { GatewayError } from '../../../base/lib/errors.ts'
import type { Quantities, Unit } from '../../../base/lib/units.ts'
import type { Facts, Model } from '../../../money/catalog/catalog.ts'
import { namesValue } from '../../../money/catalog/price/conditions.ts'
import { isPriced } from '../../../money/catalog/price/price.ts'
import type { JsonPath } from '../../../wire/dialects/cut-json.ts'

/** The price dimensions of one request, as its dialect reads them. */
export interface RequestedDimensions {
  /**
   * The facts under which the call may be served; the hold covers the most expensive. The first are
   * those of the request, which apply if the answer does not state how it was served.
   */
  readonly alternatives: readonly [Facts, ...Facts[]]
  /** Features that must have a price at the model. */
  readonly features: readonly RequestedFeature[]
  /** The thinking that a translated request asks for; absent: the vendor's choice. */
  readonly translatedThinking?: 'on' | 'off' | undefined
}

/**
 * A field of a request that needs a price. Without `unit` and `facts` it cannot be priced, and only
 * free models accept it.
 */
export interface RequestedFeature {
  /** The field for the 400, for example `service_tier` or `tools[0].type`. */
  readonly field: string
  /** The requested value for the 400, for example `priority`. */
  readonly value: string
  /** The unit that must have a price. */
  readonly unit?: Unit
  /** The facts under which the unit, or input and output, must have a price. */
  readonly facts?: Facts
  /** The quantity of `unit` to hold for. */
  readonly quantity?: number
  /** True if the request sets no limit to the quantity: the vendor decides. */
  readonly isUnlimited?: boolean
  /** The quantity where a translated request lets the vendor search; absent: `quantity`. */
  readonly translatedQuantity?: number
  /** Requested work of another model to hold for. */
  readonly work?: Quantities
  /** True if any price of another model is sufficient: the header does not name the model. */
  readonly isOfAnyModel?: boolean
  /** True if translators drop the field, so that a vendor reached by translation never sees it. */
  readonly isDropped?: boolean
  /** True for a cache mark on content, which some of these translators keep. */
  readonly isMark?: boolean
  /** Present if the field only allows the vendor to do something, so that it may be taken out. */
  readonly offer?: ToolOffer
}

/** A vendor-run tool that a request offers, or an option that allows the vendor to search. */
export interface ToolOffer {
  /** Its place in the body. */
  readonly path: JsonPath
  /** Its name in the request, for example `web_search`. */
  readonly name: string
  /** Its definition; absent for an option. */
  readonly tool?: object
  /** Its kind for statistics, one of a few, for example `web_search` or `other`. */
  readonly kind: string
  /** The unit by which it is sold; absent if there is none. */
  readonly unit?: Unit
}

/**
 * Returns true if the model has a price for each search that its vendor runs: only then does a
 * translated request ask for searches.
 */
export function sellsSearch({ prices }: Pick<Model, 'prices'>): boolean {
  return isPriced(prices, 'web_search_call')
}

export const NO_DIMENSIONS: RequestedDimensions = { alternatives: [{}], features: [] }

/** Returns the features without a price. `units` are billed for every call. */
export function listUnpriced(
  { free, prices }: Pick<Model, 'free' | 'prices'>,
  features: readonly RequestedFeature[],
  units: readonly Unit[],
): readonly RequestedFeature[] {
  if (free) return []
  return features.filter((feature) => !hasPrice(prices, feature, units))
}

/** Returns the 400 that names a field without a price, and what the operator can do. */
export function notPriced(
  { id }: Pick<Model, 'id'>,
  { field, value, unit }: RequestedFeature,
  reason?: string,
): GatewayError {
  const shown = value.slice(0, 100)
  const why = reason ? `, ${reason}` : ''
  const remedy = unit ? ` (the operator can add one for '${unit}')` : ''
  return new GatewayError('invalid_request', {
    message: `${field}: '${shown}' is not sold with '${id}': it has no price${remedy}${why}`,
    param: field,
    code: 'not_priced',
  })
}

function hasPrice(
  prices: Model['prices'],
  { unit, facts, isOfAnyModel }: RequestedFeature,
  units: readonly Unit[],
): boolean {
  // A vendor that states the cost of each call prices every feature.
  if (prices.some((price) => price.unit === 'vendor_cost')) return true
  if (unit) return isPriced(prices, unit, facts)
  if (isOfAnyModel) return prices.some(({ when }) => when !== undefined && 'model' in when)
  if (!facts) return false
  const sold = units.filter((one) => isPriced(prices, one))
  const isOfAnother = facts.model !== undefined
  return sold.every((one) => isPriced(prices, one, facts)) && (sold.length > 0 || !isOfAnother)
}

/**
 * Throws a 400 if the model has no price for the requested kind of media, such as a size that no
 * price names: it would be generated for free. `quantities` are those of the hold.
 */
export function refuseUnsold(
  { free, prices, id }: Pick<Model, 'free' | 'prices' | 'id'>,
  quantities: Quantities,
  facts: Facts,
): void {
  if (free) return
  const missing = findUnsold(prices, quantities, facts)
  if (!missing) return
  const conditions = prices.flatMap(({ unit, when = {} }) => (unit === missing ? [when] : []))
  const named = Object.keys(facts).filter((name) => conditions.some((when) => name in when))
  const field =
    named.find((name) => !namesValue(prices, name, facts[name] ?? '')) ??
    named[0] ??
    // No price names this condition, and without it the request would be sold.
    Object.keys(facts).find((name) => {
      const { [name]: _without, ...others } = facts
      return isPriced(prices, missing, others)
    })
  const shown = field === undefined ? missing : `'${String(facts[field]).slice(0, 100)}'`
  throw new GatewayError('invalid_request', {
    message: `${field ?? 'model'}: ${shown} is not sold with '${id}': it has no price`,
    param: field,
    code: 'not_priced',
  })
}

/** Returns the first unit that the model sells, but not under these facts. */
export function findUnsold(
  prices: Model['prices'],
  quantities: Quantities,
  facts: Facts,
): Unit | undefined {
  const units = new Set(prices.map(({ unit }) => unit))
  return [...units].find((unit) => (quantities[unit] ?? 0) > 0 && !isPriced(prices, unit, facts))
}
