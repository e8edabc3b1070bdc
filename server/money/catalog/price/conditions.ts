/**
 * Evaluates the conditions of prices. Facts of the request are exact; `input_tokens` (including
 * cached ones) and `output_tokens` come from the quantities, so that prices can have tiers.
 */
import { foldForms } from '../../../base/lib/text/fold-forms.ts'
import {
  INPUT_UNITS,
  OUTPUT_UNITS,
  type Quantities,
  sumOf,
  type Unit,
} from '../../../base/lib/units.ts'
import type { Condition, Facts, PriceEntry } from '../catalog.ts'
import { arrange, type PriceList, type Rule } from './price-list.ts'
import { factsToName, isStrictUnit, readFact, type StrictFact } from './strict-facts.ts'

/** `maybe`: the known facts do not decide the condition. */
export type ConditionVerdict = 'yes' | 'no' | 'maybe'
export type ConditionJudge = (rule: Rule) => ConditionVerdict

/**
 * The facts of how a call was or may be served; `channelFacts` come from the channel's settings.
 */
export interface ServedFacts {
  readonly facts: Facts
  readonly channelFacts: Facts
}

/** Judges a finished call: a condition on an absent fact fails. */
export function judgeFinished(
  list: PriceList,
  quantities: Quantities,
  served: ServedFacts,
): ConditionJudge {
  const facts = merge(served)
  const totals = totalsOf(list, quantities)
  return judgeEach(list, served, facts, (name, condition, unit) => {
    const known = readFact(facts, name, unit)
    const fact = known ?? (Object.hasOwn(totals, name) ? totals[name] : undefined)
    return fact !== undefined && holds(condition, fact) ? 'yes' : 'no'
  })
}

/**
 * Judges an upcoming call: quantities are upper bounds, and an absent fact may still appear. An
 * absent strict fact has its default value.
 */
export function judgeUpcoming(
  list: PriceList,
  quantities: Quantities,
  served: ServedFacts,
): ConditionJudge {
  const facts = merge(served)
  const most = totalsOf(list, quantities)
  return judgeEach(list, served, facts, (name, condition, unit) => {
    const fact = readFact(facts, name, unit)
    if (fact !== undefined) return holds(condition, fact) ? 'yes' : 'no'
    if (name === 'model') return 'no'
    return Object.hasOwn(most, name) ? holdsUpTo(condition, most[name]) : 'maybe'
  })
}

/** Used if the call has no strict facts to name and no price has a condition. */
export const ALWAYS: ConditionJudge = () => 'yes'

type JudgeCondition = (name: string, condition: Condition, unit: Unit) => ConditionVerdict

function judgeEach(
  list: PriceList,
  { channelFacts }: ServedFacts,
  facts: Facts,
  judge: JudgeCondition,
): ConditionJudge {
  const toName = factsToName(facts, channelFacts, list.named)
  if (toName.length === 0 && list.named.size === 0) return ALWAYS
  return ({ entry, conditions }) => {
    if (toName.length > 0 && !namesAll(toName, entry.unit, conditions)) return 'no'
    let verdict: ConditionVerdict = 'yes'
    for (const [name, condition] of conditions) {
      const one = judge(name, condition, entry.unit)
      if (one === 'no') return 'no'
      if (one === 'maybe') verdict = 'maybe'
    }
    return verdict
  }
}

function namesAll(
  toName: readonly StrictFact[],
  unit: Unit,
  conditions: Rule['conditions'],
): boolean {
  return toName.every(
    (fact) =>
      (fact !== 'model' && !isStrictUnit(unit)) || conditions.some(([name]) => name === fact),
  )
}

function merge({ facts, channelFacts }: ServedFacts): Facts {
  // Most channels have no facts: avoid a copy per call.
  for (const _ in channelFacts) return { ...channelFacts, ...facts }
  return facts
}

const NO_TOTALS: Readonly<Record<string, number>> = {}

/** Returns the totals that tiers compare, or nothing if the list has no tiers. */
function totalsOf({ named }: PriceList, quantities: Quantities): Readonly<Record<string, number>> {
  if (!named.has('input_tokens') && !named.has('output_tokens')) return NO_TOTALS
  return {
    input_tokens: sumOf(quantities, INPUT_UNITS),
    output_tokens: sumOf(quantities, OUTPUT_UNITS),
  }
}

/**
 * Returns true if a condition of the list names this value of a fact. The prices do not distinguish
 * values that no condition names.
 */
export function namesValue(
  prices: readonly PriceEntry[],
  name: string,
  fact: Facts[string],
): boolean {
  const list = arrange(prices)
  if (!list.named.has(name)) return false
  for (const rules of list.rules.values()) {
    for (const { conditions } of rules) {
      if (conditions.some(([one, condition]) => one === name && holds(condition, fact))) return true
    }
  }
  return false
}

/**
 * Returns true if the conditions of a list can read a value of a fact. A vendor may understand
 * values that conditions cannot, such as digits of another script, and the caller could then choose
 * the price with them.
 */
export function canRead(prices: readonly PriceEntry[], name: string, fact: Facts[string]): boolean {
  if (String(fact).length > FACT_LENGTH_MAX) return false
  if (namesValue(prices, name, fact)) return true
  const conditions = prices.flatMap(({ when = {} }): Condition[] => {
    const condition = Object.hasOwn(when, name) ? when[name] : undefined
    return condition === undefined ? [] : isList(condition) ? [...condition] : [condition]
  })
  return conditions.every((condition) => {
    if (typeof condition === 'boolean') return toBoolean(fact) !== undefined
    if (typeof condition === 'string') return !maySpell(fact, condition)
    return toNumber(fact) !== undefined || !maySpellNumber(fact, condition)
  })
}

const FACT_LENGTH_MAX = 1_000

/**
 * Returns true for a text that a vendor may read as a word or a size other than the literal one.
 */
function maySpell(fact: Facts[string], condition: string): boolean {
  const word = wordOf(fact)
  if (CANONICAL_SIZE.test(word)) return false
  const folded = foldWord(word)
  const letters = folded.replace(BETWEEN_WORDS, '')
  if (letters !== '' && letters === foldWord(wordOf(condition)).replace(BETWEEN_WORDS, '')) {
    return true
  }
  // Matches two sides of a picture that are not written as a size.
  return /\d/.test(condition) && (folded.match(LONG_NUMBER) ?? []).length > 1
}
const CANONICAL_SIZE = /^\d{1,6}x\d{1,6}$/
const BETWEEN_WORDS = /[^\p{L}\p{N}]+/gu
const LONG_NUMBER = /\d{3,}/g

/** Returns true for a text that is not a number here, but that a vendor may read as one. */
function maySpellNumber(fact: Facts[string], condition: Condition): boolean {
  if (typeof fact !== 'string') return true
  const folded = foldWord(fact).replaceAll('_', '')
  if (NO_DIGITS.test(folded)) return toBoolean(folded) !== undefined
  if (typeof condition !== 'number' || OTHER_BASE.test(folded)) return true
  return (folded.match(DECIMALS) ?? []).some((one) => Number(one) === condition)
}
const NO_DIGITS = /^(?![\s+-]*(?:inf|nan))\P{N}*$/u
const OTHER_BASE = /0[xbo]/
const DECIMALS = /\d+(?:\.\d+)?(?:e[+-]?\d{1,2})?/g

/** Returns the text in lower case, with all forms of a letter or digit folded into one. */
function foldWord(word: string): string {
  return foldForms(word).toLowerCase().replace(OTHER_DIGIT, digitOf)
}
const OTHER_DIGIT = /[^\P{Nd}0-9]/gu

/** The ten digits of a script have consecutive code points. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  let zero = code
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return String(code - zero)
}

function holds(condition: Condition, fact: Facts[string]): boolean {
  if (typeof condition !== 'object') return isSame(condition, fact)
  if (isList(condition)) return condition.some((one) => isSame(one, fact))
  const figure = toNumber(fact)
  if (figure === undefined) return false
  const { min, below } = condition
  return (min === undefined || figure >= min) && (below === undefined || figure < below)
}

/**
 * Vendors accept `HIGH` and ` 2k ` for `high` and `2K`, `1024*768` for `1024x768`, `"60"` for 60,
 * and `"true"` or 1 for true: conditions do so too, since a caller could otherwise choose the price
 * by how a value is written.
 */
function isSame(value: Facts[string], fact: Facts[string]): boolean {
  if (value === fact) return true
  if (typeof value === 'number') return toNumber(fact) === value
  if (typeof value === 'boolean') return toBoolean(fact) === value
  return wordOf(value) === wordOf(fact)
}

function wordOf(fact: Facts[string]): string {
  const word = String(fact).trim().toLowerCase()
  const [, width, height] = SIZE.exec(word) ?? []
  return width === undefined ? word : `${Number(width)}x${Number(height)}`
}
const SIZE = /^(\d{1,6})\s?[x*×]\s?(\d{1,6})$/

function toNumber(fact: Facts[string]): number | undefined {
  if (typeof fact === 'number') return fact
  const word = wordOf(fact)
  return NUMBER.test(word) ? Number(word) : undefined
}
const NUMBER = /^[+-]?\d{1,15}(?:\.\d{0,15})?(?:e[+-]?\d{1,2})?$/

/** Returns the boolean that vendors read; undefined for any other word. */
export function toBoolean(fact: Facts[string]): boolean | undefined {
  const word = wordOf(fact)
  if (TRUE.has(word)) return true
  return FALSE.has(word) ? false : undefined
}
const TRUE: ReadonlySet<string> = new Set(['true', '1', 'yes', 'on', 't', 'y'])
const FALSE: ReadonlySet<string> = new Set(['false', '0', 'no', 'off', 'f', 'n'])

/** Returns true if every fact for which the condition holds fulfils the wider one too. */
export function isWithin(condition: Condition, wider: Condition): boolean {
  if (typeof condition !== 'object') return holds(wider, condition)
  if (isList(condition)) return condition.every((one) => holds(wider, one))
  if (typeof wider !== 'object' || isList(wider)) return false
  const { min = -Infinity, below = Infinity } = condition
  return min >= (wider.min ?? -Infinity) && below <= (wider.below ?? Infinity)
}

/** Evaluates a condition for a figure between 0 and `most`. */
function holdsUpTo(condition: Condition, most = 0): ConditionVerdict {
  if (typeof condition !== 'object') return isUpTo(condition, most) ? 'maybe' : 'no'
  if (isList(condition)) return condition.some((one) => isUpTo(one, most)) ? 'maybe' : 'no'
  const { min = 0, below } = condition
  if (min > most) return 'no'
  return min <= 0 && (below === undefined || most < below) ? 'yes' : 'maybe'
}

function isUpTo(value: Facts[string], most: number): boolean {
  return typeof value === 'number' && value <= most
}

/** Array.isArray does not narrow a readonly list. */
function isList(condition: Condition): condition is readonly Facts[string][] {
  return Array.isArray(condition)
}
