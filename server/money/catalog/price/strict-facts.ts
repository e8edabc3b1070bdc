/**
 * Strict facts state how a call was served. A price that does not name a strict fact applies only
 * to its default value: a call served any other way is never charged by it.
 */
import { TOKEN_UNITS, type Unit } from '../../../base/lib/units.ts'
import type { Facts } from '../catalog.ts'

/** The value of an absent strict fact. `model` has no default. */
const DEFAULTS: Readonly<Record<string, string>> = {
  service_tier: 'standard',
  speed: 'standard',
  region: 'global',
}

const STRICT_FACTS = ['service_tier', 'speed', 'region', 'model'] as const
export type StrictFact = (typeof STRICT_FACTS)[number]

/** Units whose prices depend on how a call was served: tokens. Fees do not. */
const STRICT_UNITS: ReadonlySet<Unit> = new Set(TOKEN_UNITS)

export const isStrictUnit = (unit: Unit) => STRICT_UNITS.has(unit)

/** Returns the default value of a fact, or undefined if it has none. */
export function defaultFact(name: string): string | undefined {
  return Object.hasOwn(DEFAULTS, name) ? DEFAULTS[name] : undefined
}

/** Returns the name of the fact that says which kind of a tool a fee is for: each has its own. */
export const toolFactOf = (unit: Unit) => `tool:${unit}`

/**
 * Returns the value of a fact for a unit, or its default. Vendors call the standard tier `default`.
 */
export function readFact(facts: Facts, name: string, unit: Unit): Facts[string] | undefined {
  if (name === 'tool') return facts[toolFactOf(unit)] ?? facts.tool
  return readOwnFact(facts, name)
}

function readOwnFact(facts: Facts, name: string): Facts[string] | undefined {
  if (!Object.hasOwn(facts, name)) return defaultFact(name)
  const fact = facts[name]
  return name === 'service_tier' && fact === 'default' ? 'standard' : fact
}

/**
 * Returns the strict facts that an entry must name to apply under these facts. A fact that comes
 * only from the channel is left out if no entry of the list names it: the operator who chose that
 * channel entered a single price for it.
 */
export function factsToName(
  facts: Facts,
  channelFacts: Facts,
  named: ReadonlySet<string>,
): readonly StrictFact[] {
  let toName: readonly StrictFact[] = NONE
  for (const name of STRICT_FACTS) {
    if (!Object.hasOwn(facts, name)) continue
    const fact = readOwnFact(facts, name)
    if (fact === undefined || fact === defaultFact(name)) continue
    const isChannels = Object.hasOwn(channelFacts, name) && channelFacts[name] === fact
    if (name === 'model' || named.has(name) || !isChannels) toName = [...toName, name]
  }
  return toName
}

const NONE: readonly StrictFact[] = []

/** Returns the values that a condition names, or undefined for a range. */
export function valuesOf(condition: unknown): unknown[] | undefined {
  if (typeof condition !== 'object') return [condition]
  return Array.isArray(condition) ? condition : undefined
}

/** Returns true if an entry prices something that its unit's unconditional price never covers. */
export function isAnotherWay(entry: {
  readonly unit: Unit
  readonly when?: Readonly<Record<string, unknown>> | undefined
}): boolean {
  const { unit, when = {} } = entry
  if (Object.hasOwn(when, 'model')) return true
  return isStrictUnit(unit) && Object.keys(when).some((name) => hasOtherValue(name, when[name]))
}

function hasOtherValue(name: string, condition: unknown): boolean {
  const usual = defaultFact(name)
  if (usual === undefined || condition === undefined) return false
  return valuesOf(condition)?.some((value) => value !== usual) ?? true
}
