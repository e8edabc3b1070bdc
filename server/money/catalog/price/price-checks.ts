/** Checks of a list of prices that the schema cannot express. */
import type { Unit } from '../../../base/lib/units.ts'
import { type ModelType, unitsOfType } from '../model-types.ts'
import { defaultFact, isAnotherWay, isStrictUnit, valuesOf } from './strict-facts.ts'

export type Refuse = (path: PropertyKey[], message: string) => void
type Path = readonly [...PropertyKey[], string]

/** A price entry of a file. */
interface Entry {
  readonly unit: Unit
  readonly when?: Readonly<Record<string, unknown>> | undefined
}

/** The possible values of each of these facts. */
const VOCABULARY: Readonly<Record<string, readonly string[]>> = {
  service_tier: ['standard', 'flex', 'batch', 'fast', 'ultrafast', 'prepaid'],
  speed: ['standard', 'fast'],
  clock: ['peak', 'off_peak'],
  cache_mode: ['implicit', 'explicit'],
  thinking: ['on', 'off'],
}

/** All facts of calls for texts; an order for media has those of its fields. */
const FACTS_OF_TEXT: readonly string[] = [
  ...Object.keys(VOCABULARY),
  'region',
  'model',
  'input_tokens',
  'output_tokens',
  'tool',
]
const TEXT_TYPES: ReadonlySet<ModelType> = new Set(['chat', 'embedding', 'moderation'])

/** Returns the facts of a condition that no call for text has: its price never applies. */
export function findUnknownFacts(type: ModelType, when: Entry['when'] = {}): string[] {
  if (!TEXT_TYPES.has(type)) return []
  return Object.keys(when).filter((name) => !FACTS_OF_TEXT.includes(name))
}

/** Facts for which a non-default value needs a price for every token unit, or for none. */
const COMPLETE: readonly string[] = ['service_tier', 'speed', 'region']

export function checkPrices(
  type: ModelType,
  prices: readonly Entry[],
  path: Path,
  refuse: Refuse,
): void {
  for (const [index, { unit, when = {} }] of prices.entries()) {
    if (!unitsOfType(type).includes(unit)) {
      const known = unitsOfType(type).join(', ')
      refuse([...path, index, 'unit'], `a ${type} model is billed by ${known}`)
    }
    checkWords(when, [...path, index, 'when'], refuse)
  }
  checkReached(prices, path, refuse)
  checkComplete(prices, path, refuse)
  if (prices.some(isVendorCost) && prices.every(isVendorCost)) {
    refuse([...path], 'vendor_cost needs other prices too: holds are computed from them')
  }
}

const isVendorCost = ({ unit }: Entry) => unit === 'vendor_cost'

function checkWords(when: NonNullable<Entry['when']>, path: PropertyKey[], refuse: Refuse): void {
  for (const [name, condition] of Object.entries(when)) {
    const known = Object.hasOwn(VOCABULARY, name) ? VOCABULARY[name] : undefined
    if (!known) continue
    const values = valuesOf(condition) ?? []
    if (values.length > 0 && values.every((value) => known.includes(String(value)))) continue
    refuse([...path, name], `must be one of ${known.join(', ')}, or a list of them`)
  }
}

function checkReached(prices: readonly Entry[], path: Path, refuse: Refuse): void {
  const always = new Map<Unit, number>()
  for (const [index, entry] of prices.entries()) {
    const { unit, when } = entry
    const earlier = always.get(unit)
    if (earlier === undefined) {
      if (!when) always.set(unit, index)
    } else if (!isAnotherWay(entry)) {
      const hiding = `${String(path.at(-1))}[${earlier}]`
      const problem = `never applies: ${hiding} holds for every ${unit}`
      refuse([...path, index], `${problem}; put entries with conditions before it`)
    }
  }
}

/**
 * Requires that if one token unit has a price for a non-default way of being served, all have:
 * otherwise a call served that way would have unpriced tokens.
 */
function checkComplete(prices: readonly Entry[], path: Path, refuse: Refuse): void {
  const tokens = prices.flatMap((entry, index) =>
    isStrictUnit(entry.unit) && !Object.hasOwn(entry.when ?? {}, 'model')
      ? [{ ...entry, index, ways: waysOf(entry) }]
      : [],
  )
  const sold = [...new Set(tokens.filter(({ ways }) => ways.has('')).map(({ unit }) => unit))]
  const seen = new Set([''])
  for (const { unit: named, index, ways } of tokens) {
    for (const way of ways) {
      if (seen.has(way)) continue
      seen.add(way)
      const missing = sold.filter(
        (unit) => !tokens.some((one) => one.unit === unit && one.ways.has(way)),
      )
      if (missing.length === 0) continue
      const problem = `${named} has a price at ${way}; so must ${missing.join(', ')}`
      refuse([...path, index, 'when'], problem)
    }
  }
}

/**
 * Returns the ways of being served that an entry prices: `''` for the default, or for example
 * `region us`.
 */
function waysOf({ when = {} }: Entry): ReadonlySet<string> {
  let ways = ['']
  for (const name of COMPLETE) {
    const condition = when[name]
    const values = condition === undefined ? [] : (valuesOf(condition) ?? [])
    if (values.length === 0) continue
    const words = values.map((value) => (value === defaultFact(name) ? '' : `${name} ${value}`))
    ways = ways.flatMap((way) => words.map((word) => [way, word].filter(Boolean).join(', ')))
  }
  return new Set(ways)
}
