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

export interface PlainPrice {
  readonly unit: string
  readonly per: number
  readonly amount: string
  readonly when?: Readonly<Record<string, unknown>> | undefined
}

export function toPriceDraft({ unit, per, amount, when }: PlainPrice): PriceDraft {
  return { unit, per: String(per), amount, when: toConditionDrafts(when) }
}

/** Returns the prices of a request. */
export function toPrices(drafts: readonly PriceDraft[]) {
  return drafts.map(({ unit, per, amount, when: drafted }) => {
    const when = toConditions(drafted)
    const price = { unit, per: Number(per), amount: plainNumber(amount) }
    return when ? { ...price, when } : price
  })
}

/** Returns the prices that are complete, for a comparison while they are typed. */
export function readDrafts(drafts: readonly PriceDraft[]): PlainPrice[] {
  return drafts.flatMap((draft) => {
    const isComplete = /^\d+(\.\d+)?$/.test(plainNumber(draft.amount)) && Number(draft.per) > 0
    return isComplete ? toPrices([draft]) : []
  })
}
