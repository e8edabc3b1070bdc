/** The ways in which stated usage can be invalid, and the part of each that remains valid. */
import type { Case } from '../plan.ts'
import type { Json } from './usage.ts'

export type Remains = 'none' | 'input' | 'output'

interface Bend {
  /** The part of the usage that is still an integer from 0 to 2^53 afterwards. */
  readonly remains: Remains
  readonly apply: (usage: Json) => unknown
}

const INPUT =
  /^(prompt|input|cached|cache_(read|creation)_input)_tokens$|^(prompt|cachedContent)TokenCount$/
const OUTPUT = /^(completion|output)_tokens$|^(candidates|thoughts)TokenCount$/

function mapCounts(usage: Json, change: (count: number) => unknown, pattern?: RegExp): Json {
  const entries = Object.entries(usage).map(([name, value]) => {
    if (typeof value === 'number' && (!pattern || pattern.test(name))) return [name, change(value)]
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return [name, mapCounts(value as Json, change, pattern)]
    }
    return [name, value]
  })
  return Object.fromEntries(entries)
}

function without(usage: Json, pattern: RegExp): Json {
  return Object.fromEntries(
    Object.entries(usage).filter(([name]) => !pattern.test(name) && name !== 'total_tokens'),
  )
}

/** Changes the counts of one side, and drops the total, which would tell the side. */
function mapAlone(usage: Json, change: (count: number) => unknown, pattern: RegExp): Json {
  return mapCounts(without(usage, /^$/), change, pattern)
}

/**
 * Returns the usage as the answer states it, modified if the case requires. May be `ABSENT`, or
 * null.
 */
export function bendUsage({ answer }: Case, usage: Json): unknown {
  const bend = BENDS[answer.breakage ?? '']
  return bend ? bend.apply(usage) : usage
}

/** Represents a member that is absent. */
export const ABSENT = Symbol('absent')

export const BENDS: Readonly<Record<string, Bend>> = {
  missing: { remains: 'none', apply: () => ABSENT },
  null: { remains: 'none', apply: () => null },
  'a string': { remains: 'none', apply: () => '12 tokens' },
  'a number': { remains: 'none', apply: () => 12 },
  'an empty object': { remains: 'none', apply: () => ({}) },
  'an array': { remains: 'none', apply: (usage) => [usage] },
  'strings for counts': { remains: 'none', apply: (usage) => mapCounts(usage, String) },
  zeros: { remains: 'none', apply: (usage) => mapCounts(usage, () => 0) },
  'words for counts': { remains: 'none', apply: (usage) => mapCounts(usage, () => 'NaN') },
  fractions: { remains: 'none', apply: (usage) => mapCounts(usage, (one) => one + 0.5) },
  negatives: { remains: 'none', apply: (usage) => mapCounts(usage, (one) => -one - 1) },
  nulls: { remains: 'none', apply: (usage) => mapCounts(usage, () => null) },
  booleans: { remains: 'none', apply: (usage) => mapCounts(usage, () => true) },
  objects: { remains: 'none', apply: (usage) => mapCounts(usage, (one) => ({ value: one })) },
  arrays: { remains: 'none', apply: (usage) => mapCounts(usage, (one) => [one]) },
  'beyond 2^53': { remains: 'none', apply: (usage) => mapCounts(usage, () => 1e300) },
  'no output': { remains: 'input', apply: (usage) => without(usage, OUTPUT) },
  'null output': { remains: 'input', apply: (usage) => mapAlone(usage, () => null, OUTPUT) },
  'zero output': { remains: 'input', apply: (usage) => mapAlone(usage, () => 0, OUTPUT) },
  'a string for output': { remains: 'input', apply: (usage) => mapAlone(usage, String, OUTPUT) },
  'a fraction for output': {
    remains: 'input',
    apply: (usage) => mapAlone(usage, (one) => one + 0.25, OUTPUT),
  },
  'no input': { remains: 'output', apply: (usage) => without(usage, INPUT) },
  'null input': { remains: 'output', apply: (usage) => mapAlone(usage, () => null, INPUT) },
  'a negative input': { remains: 'output', apply: (usage) => mapAlone(usage, () => -5, INPUT) },
}
