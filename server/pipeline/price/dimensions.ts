/**
 * Price dimensions of a request: what a caller can ask for that makes a call dearer or cheaper.
 * What has no price at the model is refused before any money is held.
 */
import type { Facts, Model } from '../../catalog/catalog.ts'
import { namesValue } from '../../catalog/price/conditions.ts'
import { isPriced } from '../../catalog/price/price.ts'
import { GatewayError } from '../../lib/errors.ts'
import type { Quantities, Unit } from '../../lib/units.ts'

/** What a request asks for, as its dialect reads it. */
export interface AskedDimensions {
  /**
   * The facts under which the call may be served. The hold is taken at the dearest of them. The
   * first is what the caller asked for: it counts where the answer does not say how it was served.
   */
  readonly alternatives: readonly [Facts, ...Facts[]]
  /** What must have a price at the model. */
  readonly features: readonly AskedFeature[]
}

/**
 * One field of a request that is sold only where it has a price. Without `unit` and `facts`
 * nothing can price it, and only free models take it.
 */
export interface AskedFeature {
  /** The field for the 400, for example `service_tier` or `tools[0].type`. */
  readonly field: string
  /** What the caller asked for, for the 400, for example `priority`. */
  readonly value: string
  /** The unit that must have a price. */
  readonly unit?: Unit
  /** The facts under which the unit, or input and output, must have a price. */
  readonly facts?: Facts
  /** The most of `unit` that the request should come to, for the hold. */
  readonly quantity?: number
  /** Work of another model that the request asks for, for the hold. */
  readonly work?: Quantities
  /** Any price of another model will do: the header that allows one does not name it. */
  readonly isOfAnyModel?: boolean
  /** A translator leaves it out, so that a vendor reached by translation never sees it. */
  readonly isDropped?: boolean
}

export const NO_DIMENSIONS: AskedDimensions = { alternatives: [{}], features: [] }

/**
 * Throws a 400 that names the first field without a price. `units` are those that every call of
 * the operation is billed by.
 */
export function refuseUnpriced(
  { free, prices, id }: Pick<Model, 'free' | 'prices' | 'id'>,
  features: readonly AskedFeature[],
  units: readonly Unit[],
): void {
  if (free) return
  for (const feature of features) {
    if (hasPrice(prices, feature, units)) continue
    const { field, value } = feature
    const shown = value.slice(0, 100)
    throw new GatewayError('invalid_request', {
      message: `${field}: '${shown}' is not sold with '${id}': it has no price`,
      param: field,
      code: 'not_priced',
    })
  }
}

function hasPrice(
  prices: Model['prices'],
  { unit, facts, isOfAnyModel }: AskedFeature,
  units: readonly Unit[],
): boolean {
  // A vendor that states what each call cost prices all that it does.
  if (prices.some((price) => price.unit === 'vendor_cost')) return true
  if (unit) return isPriced(prices, unit, facts)
  if (isOfAnyModel) return prices.some(({ when }) => when !== undefined && 'model' in when)
  if (!facts) return false
  const sold = units.filter((one) => isPriced(prices, one))
  const isOfAnother = facts.model !== undefined
  return sold.every((one) => isPriced(prices, one, facts)) && (sold.length > 0 || !isOfAnother)
}

/**
 * Throws a 400 for an order of media of which the model sells no such kind, for example a size that
 * no price names: what has no price would be made for nothing. `quantities` are those of the hold.
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
  const field = named.find((name) => !namesValue(prices, name, facts[name] ?? '')) ?? named[0]
  const shown = field === undefined ? missing : `'${String(facts[field]).slice(0, 100)}'`
  throw new GatewayError('invalid_request', {
    message: `${field ?? 'model'}: ${shown} is not sold with '${id}': it has no price`,
    ...(field === undefined ? {} : { param: field }),
    code: 'not_priced',
  })
}

/** The first unit that the model sells, but not so. */
export function findUnsold(
  prices: Model['prices'],
  quantities: Quantities,
  facts: Facts,
): Unit | undefined {
  const units = new Set(prices.map(({ unit }) => unit))
  return [...units].find((unit) => (quantities[unit] ?? 0) > 0 && !isPriced(prices, unit, facts))
}
