/**
 * Strict facts say how a call was served. A price that does not name such a fact is the price of
 * the default way only: a call that was served another way is never sold at it.
 */
import { INPUT_UNITS, OUTPUT_UNITS, type Unit } from '../../lib/units.ts'
import type { Facts } from '../catalog.ts'

/** What a strict fact is where nobody states it. `model` has no default: it is another model. */
const DEFAULTS: Readonly<Record<string, string>> = {
  service_tier: 'standard',
  speed: 'standard',
  region: 'global',
}

const STRICT_FACTS = ['service_tier', 'speed', 'region', 'model'] as const
export type StrictFact = (typeof STRICT_FACTS)[number]

/** Units whose prices depend on how a call was served: tokens. A fee is a fee, however served. */
const STRICT_UNITS: ReadonlySet<Unit> = new Set([...INPUT_UNITS, ...OUTPUT_UNITS])

export const isStrictUnit = (unit: Unit) => STRICT_UNITS.has(unit)

/** The value that a fact has where nobody states it; undefined where it has none. */
export function defaultFact(name: string): string | undefined {
  return Object.hasOwn(DEFAULTS, name) ? DEFAULTS[name] : undefined
}

/** `default` is what vendors call the standard tier. */
export function readFact(facts: Facts, name: string): Facts[string] | undefined {
  if (!Object.hasOwn(facts, name)) return defaultFact(name)
  const fact = facts[name]
  return name === 'service_tier' && fact === 'default' ? 'standard' : fact
}

/**
 * The strict facts that an entry must name to be a price under these facts. A fact that is only
 * the channel's own is not among them where no entry of the list names it: whoever chose the
 * channel entered its one price.
 */
export function factsToName(
  facts: Facts,
  channelFacts: Facts,
  named: ReadonlySet<string>,
): readonly StrictFact[] {
  let toName: readonly StrictFact[] = NONE
  for (const name of STRICT_FACTS) {
    if (!Object.hasOwn(facts, name)) continue
    const fact = readFact(facts, name)
    if (fact === undefined || fact === defaultFact(name)) continue
    const isChannels = Object.hasOwn(channelFacts, name) && channelFacts[name] === fact
    if (name === 'model' || named.has(name) || !isChannels) toName = [...toName, name]
  }
  return toName
}

const NONE: readonly StrictFact[] = []

/** The values that a condition names; undefined for a range. */
export function valuesOf(condition: unknown): unknown[] | undefined {
  if (typeof condition !== 'object') return [condition]
  return Array.isArray(condition) ? condition : undefined
}

/** Whether an entry prices what its unit's base price, the one without conditions, never does. */
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
