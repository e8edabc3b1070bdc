/** Formats numbers and times. Amounts stay decimal strings, so no precision is lost. */
import type { Language } from './language.ts'

const LOCALES: Readonly<Record<Language, string>> = { en: 'en-US', zh: 'zh-CN' }

export function localeOf(language: Language): string {
  return LOCALES[language]
}

/**
 * Caches Intl formats by locale and options: creating one takes a tenth of a millisecond, and a
 * page of rows needs hundreds.
 */
function remember<Options, Format>(make: (locale: string, options: Options) => Format) {
  const formats = new Map<string, Format>()
  return (language: Language, options: Options): Format => {
    const key = language + JSON.stringify(options)
    const format = formats.get(key) ?? make(localeOf(language), options)
    formats.set(key, format)
    return format
  }
}

const numberFormat = remember(
  (locale, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options),
)
const timeFormat = remember(
  (locale, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options),
)
const relativeFormat = remember(
  (locale, options: Intl.RelativeTimeFormatOptions) => new Intl.RelativeTimeFormat(locale, options),
)

interface MoneyOptions {
  readonly currency: string
  readonly language: Language
  /** Decimal places; amounts of a call have up to nine, balances two. */
  readonly places?: number
}

/** `'0.00123'` → `$0.00123`. Exact: Intl reads decimal strings without rounding to a double. */
export function formatMoney(amount: string, { currency, language, places = 9 }: MoneyOptions) {
  if (!isDecimal(amount)) return amount
  const style = { minimumFractionDigits: 2, maximumFractionDigits: Math.max(2, places) }
  return currencyFormat(currency, language, style)(amount)
}

function currencyFormat(currency: string, language: Language, style: Intl.NumberFormatOptions) {
  try {
    const format = numberFormat(language, {
      style: 'currency',
      currency,
      currencyDisplay: 'narrowSymbol',
      ...style,
    })
    return (amount: Decimal) => format.format(amount)
  } catch {
    // An operator's currency may not be an ISO one: credits, points.
    const format = numberFormat(language, style)
    return (amount: Decimal) => `${format.format(amount)} ${currency}`
  }
}

type Decimal = `${number}`

function isDecimal(text: string): text is Decimal {
  return /^-?\d+(?:\.\d+)?$/.test(text)
}

/** Returns two places for a balance, more if it would show as zero: `0.00001234` → 6. */
export function placesFor(amount: string | number): number {
  const size = Math.abs(Number(amount))
  if (!(size > 0) || size >= 1) return 2
  return Math.min(9, 1 - Math.floor(Math.log10(size)))
}

export function isZero(amount: string): boolean {
  return /^-?0+(?:\.0+)?$/.test(amount)
}

export function formatNumber(value: number, language: Language, places = 0): string {
  return numberFormat(language, { maximumFractionDigits: places }).format(value)
}

/** 1200 → 1.2K, for tiles and axes. */
export function formatCompact(value: number, language: Language): string {
  return numberFormat(language, {
    notation: 'compact',
    maximumFractionDigits: 1,
  }).format(value)
}

/** 0.0123 → 1.2 %. */
export function formatShare(value: number, language: Language): string {
  return numberFormat(language, {
    style: 'percent',
    maximumFractionDigits: 1,
  }).format(value)
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

export function formatBytes(bytes: number, language: Language): string {
  const step = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return numberFormat(language, {
    style: 'unit',
    unit: BYTE_UNITS[step] ?? 'byte',
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  }).format(bytes / 1000 ** step)
}

/** 850 → 850 ms, 93_000 → 1m 33s. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1_000
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m ${Math.floor(seconds % 60)}s`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours}h ${minutes % 60}m`
  return `${Math.floor(hours / 24)}d ${hours % 24}h`
}

/** Formats a remaining or elapsed time for a countdown: `22h`, `45m`, `30s`. */
export function formatSpan(milliseconds: number, language: Language): string {
  const seconds = Math.max(0, milliseconds / 1_000)
  const [unit, size] = STEPS.find(([, step]) => seconds >= step) ?? (['second', 1] as const)
  return numberFormat(language, {
    style: 'unit',
    unit,
    unitDisplay: 'narrow',
    maximumFractionDigits: 0,
  }).format(Math.floor(seconds / size))
}

export function formatTime(time: string, language: Language): string {
  return timeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'medium',
  }).format(new Date(time))
}

/** Formats briefly for tables: the time today, the day and time this year. */
export function formatShortTime(time: string, language: Language): string {
  const date = new Date(time)
  const now = new Date()
  const isToday = date.toDateString() === now.toDateString()
  const isThisYear = date.getFullYear() === now.getFullYear()
  return timeFormat(language, {
    ...(isToday ? { second: '2-digit' } : { month: 'short', day: 'numeric' }),
    ...(isThisYear ? {} : { year: 'numeric' }),
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(date)
}

const STEPS: readonly (readonly [unit: 'day' | 'hour' | 'minute' | 'second', seconds: number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

/** `3 minutes ago`, `in 2 hours`. */
export function formatRelative(time: string, nowMs: number, language: Language): string {
  const seconds = (new Date(time).getTime() - nowMs) / 1_000
  const [unit, size] = STEPS.find(([, step]) => Math.abs(seconds) >= step) ?? ['second', 1]
  const format = relativeFormat(language, { numeric: 'auto' })
  return format.format(Math.trunc(seconds / size), unit)
}
