/** Units and conditions of prices as people say them: never `input_token`, never `per 1000000`. */
import { formatCompact, formatNumber } from '../lib/format.ts'
import { fillText, useLanguage } from '../lib/i18n.tsx'
import type { Language } from '../lib/language.ts'
import { messages } from './price-words-messages.ts'

type Known = keyof (typeof messages)['en']
type Values = Readonly<Record<string, string>>

function isKnown(key: string): key is Known {
  return Object.hasOwn(messages.en, key)
}

export function usePriceWords() {
  return wordPrices(useLanguage().language)
}

function wordPrices(language: Language) {
  const say = (key: Known, values: Values = {}) => fillText(messages[language][key], values)
  const word = (key: string, absent: string) => (isKnown(key) ? say(key) : absent)

  function describeRange(name: string, { min, below }: Range): string {
    const what = word(name, name)
    const least = formatNumber(min ?? 0, language)
    const most = formatNumber((below ?? 1) - 1, language)
    if (min === undefined) return say('upTo', { most, what })
    return say(below === undefined ? 'from' : 'between', { least, most, what })
  }

  function describeCondition(name: string, value: unknown): string {
    if (isRange(value)) return describeRange(name, value)
    const key = typeof value === 'boolean' ? `${name}_${value}` : name
    return say(isKnown(key) ? key : 'other', { name, value: String(value) })
  }

  return {
    /** `input tokens`. */
    units: (unit: string) => word(`units_${unit}`, unit),
    /** `per 1M input tokens`, `per second`. */
    per(count: number, unit: string): string {
      const longer = unit === 'second' ? LONGER[count] : undefined
      if (longer) return say('per', { what: say(longer) })
      const many = `${formatCompact(count, language)} ${word(`units_${unit}`, unit)}`
      return say('per', { what: count === 1 ? word(`unit_${unit}`, unit) : many })
    },
    /** `at 1080p, without sound`. */
    when: (conditions: Readonly<Record<string, unknown>>) =>
      Object.entries(conditions)
        .map(([name, value]) => describeCondition(name, value))
        .join(language === 'zh' ? '，' : ', '),
    more: (count: number) => say('more', { count: String(count) }),
  }
}

/** Seconds that have a name of their own. */
const LONGER: Readonly<Record<number, Known>> = { 60: 'unit_minute', 3600: 'unit_hour' }

interface Range {
  readonly min?: number
  readonly below?: number
}

function isRange(value: unknown): value is Range {
  return typeof value === 'object' && value !== null && ('min' in value || 'below' in value)
}
