/** Price conditions that state the kind of a hosted tool, if kinds differ in price. */
import { TOOL_FEE_UNITS, type Unit } from '../../../base/lib/units.ts'
import type { Facts, Model } from '../../../money/catalog/catalog.ts'
import { priceUpperBound } from '../../../money/catalog/price/price.ts'
import { toolFactOf } from '../../../money/catalog/price/strict-facts.ts'
import type { RequestedFeature } from '../price/dimensions.ts'

const FEES: ReadonlySet<Unit> = new Set(TOOL_FEE_UNITS)
/** The kind of a tool that has no name of its own: no price names it. */
const USUAL = ''
const MANY = 1_000_000

type Alternatives = readonly [Facts, ...Facts[]]

/**
 * Adds the kind of each tool as a price condition of its fee, because answers state the calls but
 * not always their kind. If one request has several kinds, the most expensive applies. A container
 * that is named by its id has no kind, since its memory is not in the request.
 */
export function addToolFacts(
  alternatives: Alternatives,
  features: readonly RequestedFeature[],
  { prices }: Pick<Model, 'prices'>,
): Alternatives {
  if (features.length === 0) return alternatives
  const facts: Record<string, string> = {}
  for (const [unit, kinds] of listKinds(features)) {
    if (kinds.has(undefined)) continue
    let most = -1n
    for (const kind of kinds) {
      const cost = priceUpperBound(prices, { [unit]: MANY }, [{ tool: kind ?? USUAL }])
      if (cost > most) facts[toolFactOf(unit)] = kind ?? USUAL
      if (cost > most) most = cost
    }
  }
  const [first, ...others] = alternatives
  return [{ ...first, ...facts }, ...others.map((one) => ({ ...one, ...facts }))]
}

function listKinds(features: readonly RequestedFeature[]): Map<Unit, Set<string | undefined>> {
  const kinds = new Map<Unit, Set<string | undefined>>()
  for (const { unit, facts } of features) {
    if (unit === undefined || !FEES.has(unit)) continue
    const usual = unit === 'container_minute' ? undefined : USUAL
    const kind = facts?.tool === undefined ? usual : String(facts.tool)
    kinds.set(unit, (kinds.get(unit) ?? new Set()).add(kind))
  }
  return kinds
}
