/**
 * Strict facts say how a call was served. A price that does not name such a fact is the price of
 * the default way only: a call that was served another way is never sold at it.
 */
import { INPUT_UNITS, OUTPUT_UNITS, type Unit } from '../lib/units.ts'
import type { Facts } from './catalog.ts'

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
  return STRICT_FACTS.filter((name) => {
    const fact = readFact(facts, name)
    if (fact === undefined || fact === defaultFact(name)) return false
    if (name === 'model') return true
    return named.has(name) || !Object.hasOwn(channelFacts, name) || channelFacts[name] !== fact
  })
}
