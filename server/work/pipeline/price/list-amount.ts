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
  const groups = Map.groupBy(charge.lines, ({ model = '', role = '' }) => `${role}\n${model}`)
  const passes: PricedPass[] = []
  for (const [first, ...rest] of groups.values()) {
    if (first?.model === undefined) continue
    const { model, role = '' } = first
    passes.push({ model, role, usage: sumUp([first, ...rest]) })
  }
  const own = countOnce(basePrices, sumUp(groups.get('\n') ?? []))
  const base = priceCharge(basePrices, own, facts, channelFacts, passes)
  const amounts = new Map(base.lines.map((line) => [keyOf(line), line]))
  const lines = charge.lines.map((line): ChargeLine => {
    const amount = amounts.get(keyOf(line))?.amount ?? '0'
    amounts.delete(keyOf(line))
    return { ...line, list_amount: amount }
  })
  const more = [...amounts.values()].filter(({ amount }) => amount !== '0')
  const alone = more.map((line) => ({
    ...line,
    unit_price: '0',
    amount: '0',
    list_amount: line.amount,
  }))
  return { ...charge, lines: [...lines, ...alone] }
}

function keyOf({
  unit,
  model = '',
  role = '',
}: Pick<ChargeLine | PriceLine, 'unit' | 'model' | 'role'>) {
  return `${unit}\n${role}\n${model}`
}

function sumUp(lines: readonly ChargeLine[]): { readonly [unit in Unit]?: number } {
  const sums: { [unit: string]: number } = {}
  for (const { unit, quantity } of lines) sums[unit] = (sums[unit] ?? 0) + quantity
  return sums
}
