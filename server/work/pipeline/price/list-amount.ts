/** Computes the charge at the base prices for a call that is charged at those of a list. Pure. */

import type { Unit } from '../../../base/lib/units.ts'
import type { Facts, PriceEntry } from '../../../money/catalog/catalog.ts'
import {
  countOnce,
  type PricedPass,
  type PriceLine,
  priceCharge,
} from '../../../money/catalog/price/price.ts'
import type { Charge, ChargeLine } from './charge.ts'

interface Served {
  readonly facts: Facts
  readonly channelFacts: Facts
}

/**
 * Returns the charge with `list_amount` in its lines: the price of the same quantities on the base
 * list. A unit that only the base list prices has a line of its own, with a charge of zero.
 */
export function withListAmounts<C extends Pick<Charge, 'nanos' | 'lines'>>(
  charge: C,
  basePrices: readonly PriceEntry[] | undefined,
  { facts, channelFacts }: Served,
): C {
  if (!basePrices || charge.nanos === null) return charge
  const own = charge.lines.filter(({ model }) => model === undefined)
  const passes = splitPasses(charge.lines)
  const quantities = countOnce(basePrices, sumUp(own))
  const base = priceCharge(basePrices, quantities, facts, channelFacts, passes)
  const amounts = Map.groupBy(base.lines, keyOf)
  const lines = charge.lines.map((line): ChargeLine => {
    return { ...line, list_amount: amounts.get(keyOf(line))?.shift()?.amount ?? '0' }
  })
  const more = [...amounts.values()].flat().filter(({ amount }) => amount !== '0')
  const alone = more.map((line) => ({
    ...line,
    unit_price: '0',
    amount: '0',
    list_amount: line.amount,
  }))
  return { ...charge, lines: [...lines, ...alone] }
}

/** Returns the passes of other models, in each of which a unit is once. */
function splitPasses(lines: readonly ChargeLine[]): readonly PricedPass[] {
  const passes: { model: string; role: string; lines: ChargeLine[] }[] = []
  for (const line of lines) {
    const { model, role = '', unit } = line
    const last = passes.at(-1)
    const isSame = last?.model === model && last?.role === role
    if (isSame && last?.lines.every((one) => one.unit !== unit)) last.lines.push(line)
    else if (model !== undefined) passes.push({ model, role, lines: [line] })
  }
  return passes.map((pass) => ({ ...pass, usage: sumUp(pass.lines) }))
}

/** Several passes of one model differ in their quantities. */
function keyOf({ unit, quantity, model, role = '' }: ChargeLine | PriceLine): string {
  return model === undefined ? unit : `${unit}\n${role}\n${model}\n${quantity}`
}

function sumUp(lines: readonly ChargeLine[]): { readonly [unit in Unit]?: number } {
  const sums: { [unit: string]: number } = {}
  for (const { unit, quantity } of lines) sums[unit] = (sums[unit] ?? 0) + quantity
  return sums
}
