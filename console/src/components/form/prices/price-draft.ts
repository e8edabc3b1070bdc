/** Prices as form values, and their conversion to a request. */
import { plainNumber } from '../../../lib/nanos.ts'
import { type ConditionDraft, toConditionDrafts, toConditions } from './conditions.ts'

export interface PriceDraft {
  readonly unit: string
  readonly per: string
  readonly amount: string
  readonly when: readonly ConditionDraft[]
}

export const NEW_PRICE: PriceDraft = { unit: 'input_token', per: '1000000', amount: '', when: [] }

/** A type, since the index signature of a request's schema does not fit an interface. */
export type PlainPrice = {
  readonly unit: string
  readonly per: number
  readonly amount: string
  readonly when?: Readonly<Record<string, unknown>> | undefined
}

export function toPriceDraft({ unit, per, amount, when }: PlainPrice): PriceDraft {
  return { unit, per: String(per), amount, when: toConditionDrafts(when) }
}

/**
 * Returns the prices of a request. The first entry of a unit whose conditions hold is its price, so
 * a condition that was added behind the unit's unconditional price moves before it.
 */
export function toPrices(drafts: readonly PriceDraft[]) {
  return drafts.map(toPrice).reduce(placeBeforeHiding, [])
}

function toPrice({ unit, per, amount, when: drafted }: PriceDraft): PlainPrice {
  const when = toConditions(drafted)
  const price = { unit, per: Number(per), amount: plainNumber(amount) }
  return when ? { ...price, when } : price
}

/** A price that names one of these is for calls that an unconditional price never covers. */
const STRICT_FACTS = ['service_tier', 'speed', 'region', 'model']

function placeBeforeHiding(prices: readonly PlainPrice[], added: PlainPrice): PlainPrice[] {
  const isHidden = added.when && !STRICT_FACTS.some((fact) => fact in (added.when ?? {}))
  const isHiding = ({ unit, when }: PlainPrice) => unit === added.unit && !when
  const at = isHidden ? prices.findIndex(isHiding) : -1
  return prices.toSpliced(at < 0 ? prices.length : at, 0, added)
}

/** Returns the prices that are complete, for a comparison while they are typed. */
export function readDrafts(drafts: readonly PriceDraft[]): PlainPrice[] {
  return toPrices(
    drafts.filter(({ amount, per }) => {
      return /^\d+(\.\d+)?$/.test(plainNumber(amount)) && Number(per) > 0
    }),
  )
}
