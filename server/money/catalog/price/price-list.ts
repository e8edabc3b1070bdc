/**
 * A price list indexed once for all calls that use it: entries by unit, with parsed conditions.
 * Lists are immutable, so the index lives as long as the list.
 */
import { formatAmount } from '../../../base/lib/money.ts'
import type { Quantities, Unit } from '../../../base/lib/units.ts'
import type { Condition, PriceEntry } from '../catalog.ts'

export interface Rule {
  readonly entry: PriceEntry
  /** The price as shown in record lines: a decimal string. */
  readonly unitPrice: string
  readonly conditions: readonly (readonly [name: string, condition: Condition])[]
}

export interface PriceList {
  readonly rules: ReadonlyMap<Unit, readonly Rule[]>
  /** All facts that conditions of the list name. */
  readonly named: ReadonlySet<string>
  /** One `call` and one `task`, where the list prices them: upstreams do not report these units. */
  readonly once: Quantities
  /** The possible prices by unit under no condition at all, filled on first use. */
  readonly certain: Map<Unit, readonly Rule[]>
}

const arranged = new WeakMap<readonly PriceEntry[], PriceList>()

/** Returns the index of `prices`, which must not change afterwards. */
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
  return { rules, named, once, certain: new Map() }
}
