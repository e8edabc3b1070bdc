/** Words units and conditions of prices for people: never `input_token` or `per 1000000`. */
import { UNIT_ROWS, type Unit } from '../../../../server/base/lib/units.ts'
import { formatCompact, formatNumber } from '../../lib/format.ts'
import type { Language } from '../../lib/language.ts'
import { fillText } from '../../lib/texts.ts'
import { messages } from './price-words-messages.ts'

const ONE = 0
const MANY = 1
/** Of a price's count: 1,250,000 are 1.25M, and not 1.3M. */
const EXACT_PLACES = 9

type Known = keyof (typeof messages)['en']
type Values = Readonly<Record<string, string>>

function isKnown(key: string): key is Known {
  return Object.hasOwn(messages.en, key)
}

function isUnit(name: string): name is Unit {
  return Object.hasOwn(UNIT_ROWS, name)
}

/** Returns the words of one language; pages use usePriceWords. */
export function wordPrices(language: Language) {
  const say = (key: Known, values: Values = {}) => fillText(messages[language][key], values)
  const word = (key: string, absent: string) => (isKnown(key) ? say(key) : absent)

  const wordUnit = (unit: string, number: typeof ONE | typeof MANY) =>
    isUnit(unit) ? UNIT_ROWS[unit][language][number] : unit

  function describeRange(name: string, { min, below }: Range): string {
    const unit = word(name, name)
    const least = formatNumber(min ?? 0, language)
    const most = formatNumber((below ?? 1) - 1, language)
    if (min === undefined) return say('upTo', { most, unit })
    return say(below === undefined ? 'from' : 'between', { least, most, unit })
  }

  function describeCondition(name: string, value: unknown): string {
    if (isRange(value)) return describeRange(name, value)
    if (Array.isArray(value)) {
      const words = value.map((one) => describeCondition(name, one))
      return words.reduce((left, right) => say('or', { left, right }))
    }
    const own = `${name}_${String(value)}`
    const key = isKnown(own) ? own : name
    return say(isKnown(key) ? key : 'other', { name, value: String(value) })
  }

  return {
    /** `input tokens`. */
    units: (unit: string) => wordUnit(unit, MANY),
    /** `output tokens · advisor claude-opus-4-7` for a part done by another model. */
    line: ({ unit, model, role }: WorkLine) =>
      [wordUnit(unit, MANY), [role, model].filter(Boolean).join(' ')].filter(Boolean).join(' · '),
    /** `per 1M input tokens`, `per second`. */
    per(count: number, unit: string): string {
      const longer = unit === 'second' ? LONGER[count] : undefined
      if (longer) return say('per', { unit: say(longer) })
      if (count === 1) return say('per', { unit: wordUnit(unit, ONE) })
      const spoken = language === 'zh' ? SPOKEN[count] : undefined
      const many = { count: spoken ?? formatCompact(count, language, EXACT_PLACES) }
      return say('per', { unit: say('many', { ...many, unit: wordUnit(unit, MANY) }) })
    },
    /** `at 1080p, without sound`. */
    when: (conditions: Readonly<Record<string, unknown>>) =>
      Object.entries(conditions)
        .map(([name, value]) => describeCondition(name, value))
        .join(language === 'zh' ? '，' : ', '),
    more: (count: number) => say('more', { count: String(count) }),
  }
}

/** Round numbers as Chinese price lists have them: 每百万, not 每 100万. */
const SPOKEN: Readonly<Record<number, string>> = {
  1000: '千',
  10000: '万',
  1000000: '百万',
}

/** Units of time by their seconds. */
const LONGER: Readonly<Record<number, Known>> = { 60: 'unit_minute', 3600: 'unit_hour' }

interface WorkLine {
  readonly unit: string
  readonly model?: string | undefined
  readonly role?: string | undefined
}

interface Range {
  readonly min?: number
  readonly below?: number
}

function isRange(value: unknown): value is Range {
  return typeof value === 'object' && value !== null && ('min' in value || 'below' in value)
}
