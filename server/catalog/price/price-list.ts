/**
 * A list of prices, arranged once for the many calls that it prices: entries by unit, conditions
 * taken apart. Lists are immutable, so the arrangement lives as long as the list.
 */
import { formatAmount } from '../../lib/money.ts'
import type { Quantities, Unit } from '../../lib/units.ts'
import type { Condition, PriceEntry } from '../catalog.ts'

export interface Rule {
  readonly entry: PriceEntry
  /** The price as lines show it: a decimal string. */
  readonly unitPrice: string
  readonly conditions: readonly (readonly [name: string, condition: Condition])[]
}

export interface PriceList {
  readonly rules: ReadonlyMap<Unit, readonly Rule[]>
  /** Every fact that a condition of the list names. */
  readonly named: ReadonlySet<string>
  /** What every call and task is one of, where that has a price: no upstream counts it. */
  readonly once: Quantities
}

const arranged = new WeakMap<readonly PriceEntry[], PriceList>()

/** Returns the arrangement of `prices`, which must never change afterwards. */
export function arrange(prices: readonly PriceEntry[]): PriceList {
  let list = arranged.get(prices)
  if (!list) {
    list = arrangeAnew(prices)
    arranged.set(prices, list)
  }
  return list
}

function arrangeAnew(prices: readonly PriceEntry[]): PriceList {
  const rules = new Map<Unit, Rule[]>()
  const named = new Set<string>()
  for (const entry of prices) {
    const conditions = Object.entries(entry.when ?? {})
    for (const [name] of conditions) named.add(name)
    const rule: Rule = { entry, unitPrice: formatAmount(entry.amountNanos), conditions }
    const earlier = rules.get(entry.unit)
    if (earlier) earlier.push(rule)
    else rules.set(entry.unit, [rule])
  }
  const once: { -readonly [U in Unit]?: number } = {}
  if (rules.has('call')) once.call = 1
  if (rules.has('task')) once.task = 1
  return { rules, named, once }
}
