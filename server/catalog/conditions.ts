/**
 * Whether a price's conditions hold. A request's own facts are exact; `input_tokens` (cached ones
 * included) and `output_tokens` come from the quantities, so that a price can have tiers.
 */
import { INPUT_UNITS, OUTPUT_UNITS, type Quantities, type Unit } from '../lib/units.ts'
import type { Condition, Facts, PriceEntry } from './catalog.ts'

/** `maybe`: what is known does not decide it. */
export type Verdict = 'yes' | 'no' | 'maybe'
export type Judge = (entry: PriceEntry) => Verdict

/** Judges a finished call: a fact that is absent fails its condition. */
export function judgeFinished(quantities: Quantities, facts: Facts): Judge {
  const known: Facts = { ...tokenFacts(quantities), ...facts }
  return judgeEach((name, condition) => {
    if (!Object.hasOwn(known, name)) return 'no'
    return holds(condition, known[name]) ? 'yes' : 'no'
  })
}

/** Judges a call to come: quantities are its most, and a fact that is absent may still appear. */
export function judgeUpcoming(quantities: Quantities, facts: Facts): Judge {
  const most = tokenFacts(quantities)
  return judgeEach((name, condition) => {
    if (Object.hasOwn(facts, name)) return holds(condition, facts[name]) ? 'yes' : 'no'
    if (Object.hasOwn(most, name)) return holdsUpTo(condition, most[name])
    return 'maybe'
  })
}

function judgeEach(judge: (name: string, condition: Condition) => Verdict): Judge {
  return ({ when }) => {
    if (!when) return 'yes'
    const verdicts = Object.entries(when).map(([name, condition]) => judge(name, condition))
    if (verdicts.includes('no')) return 'no'
    return verdicts.includes('maybe') ? 'maybe' : 'yes'
  }
}

function tokenFacts(quantities: Quantities): Readonly<Record<string, number>> {
  return {
    input_tokens: sum(quantities, INPUT_UNITS),
    output_tokens: sum(quantities, OUTPUT_UNITS),
  }
}

function sum(quantities: Quantities, units: readonly Unit[]): number {
  let total = 0
  for (const unit of units) total += quantities[unit] ?? 0
  return total
}

function holds(condition: Condition, fact: Facts[string] | undefined): boolean {
  if (typeof condition !== 'object') return condition === fact
  if (typeof fact !== 'number') return false
  const { min, below } = condition
  return (min === undefined || fact >= min) && (below === undefined || fact < below)
}

/** For a figure that will be somewhere from 0 to `most`. */
function holdsUpTo(condition: Condition, most = 0): Verdict {
  if (typeof condition !== 'object') {
    return typeof condition === 'number' && condition <= most ? 'maybe' : 'no'
  }
  const { min = 0, below } = condition
  if (min > most) return 'no'
  return min <= 0 && (below === undefined || most < below) ? 'yes' : 'maybe'
}
