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

/** Decimal places of balances and sums. All digits are on hover, in copies and in exports. */
export const SUM_PLACES = 2
/** Decimal places of single charges: most are below a cent, and would all read `< $0.01`. */
export const CHARGE_PLACES = 4
const PLACES_MAX = 9
/** Others share their sign with one of these, or with each other: `¥` is JPY's too. */
const OWN_SIGN = new Set(['CNY', 'USD', 'EUR', 'GBP'])

interface MoneyOptions {
  readonly currency: string
  readonly language: Language
  /** Fixed decimal places, so that the points of a column align; omitted, all digits. */
  readonly places?: number
}

/**
 * `'0.00123'` → `$0.00123`. Exact: Intl reads decimal strings without rounding to a double. With
 * fixed places, an amount too small for them is shown as `< $0.0001`, never as zero.
 */
export function formatMoney(amount: string, { currency, language, places }: MoneyOptions): string {
  if (!isDecimal(amount)) return amount
  const least = Math.max(places ?? 2, ownPlaces(currency))
  const most = places === undefined ? PLACES_MAX : least
  const style = { minimumFractionDigits: least, maximumFractionDigits: most }
  const format = currencyFormat(currency, language, style)
  if (isZero(amount)) return format('0')
  const smallest = 10 ** -most
  if (Math.abs(Number(amount)) >= smallest) return format(amount)
  const isNegative = amount.startsWith('-')
  return isNegative ? `> ${format(`${-smallest}`)}` : `< ${format(`${smallest}`)}`
}

/** Decimal places of the currency's coins, where they are more than two: a dinar has 1,000 fils. */
function ownPlaces(currency: string): number {
  try {
    const { maximumFractionDigits = 0 } = numberFormat('en', {
      style: 'currency',
      currency,
    }).resolvedOptions()
    return maximumFractionDigits
  } catch {
    return 0
  }
}

/** Returns `places`, or those of charges for an amount that is too small for them. */
export function legiblePlaces(amount: string, places: number): number {
  const isSmall = !isZero(amount) && Math.abs(Number(amount)) < 10 ** -places
  return isSmall ? Math.max(places, CHARGE_PLACES) : places
}

/** Returns the fewest decimal places that show every amount of a column to its last digit. */
export function columnPlaces(amounts: readonly string[]): number {
  const lengths = amounts.map((amount) => (/\.(\d*?)0*$/.exec(amount)?.[1] ?? '').length)
  return Math.min(PLACES_MAX, Math.max(2, ...lengths))
}

function currencyFormat(currency: string, language: Language, style: Intl.NumberFormatOptions) {
  try {
    const format = numberFormat(language, {
      style: 'currency',
      currency,
      currencyDisplay: OWN_SIGN.has(currency) ? 'narrowSymbol' : 'code',
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

/** Returns the places of an axis mark: two, more if it would show as zero: `0.00001234` → 6. */
export function placesFor(amount: string | number): number {
  const size = Math.abs(Number(amount))
  if (!(size > 0) || size >= 1) return 2
  return Math.min(9, 1 - Math.floor(Math.log10(size)))
}

/** Returns the places of a sum of charges: those of a balance once it is worth a whole unit. */
export function sumPlaces(amount: string): number {
  return Math.abs(Number(amount)) >= 1 ? SUM_PLACES : CHARGE_PLACES
}

export function isZero(amount: string): boolean {
  return /^-?0+(?:\.0+)?$/.test(amount)
}

export function formatNumber(value: number, language: Language, places = 0): string {
  return numberFormat(language, { maximumFractionDigits: places }).format(value)
}

/** 1200 → 1.2K, for tiles and axes. */
export function formatCompact(value: number, language: Language, places = 1): string {
  return numberFormat(language, {
    notation: 'compact',
    maximumFractionDigits: places,
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

/** 850 → 850 ms, 93_000 → 1 min 33 sec. */
export function formatDuration(milliseconds: number, language: Language): string {
  if (milliseconds < 1_000) return formatUnit(milliseconds, 'millisecond', language)
  const seconds = milliseconds / 1_000
  if (seconds < 60) return formatUnit(seconds, 'second', language, seconds < 10 ? 1 : 0)
  const parts = (big: number, bigUnit: string, small: number, smallUnit: string) =>
    [formatUnit(big, bigUnit, language), formatUnit(small, smallUnit, language)].join(
      language === 'zh' ? '' : ' ',
    )
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return parts(minutes, 'minute', Math.floor(seconds % 60), 'second')
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return parts(hours, 'hour', minutes % 60, 'minute')
  return parts(Math.floor(hours / 24), 'day', hours % 24, 'hour')
}

function formatUnit(value: number, unit: string, language: Language, places = 0): string {
  const style = {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits: places,
  } as const
  return numberFormat(language, style).format(value)
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

const CLOCK = {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
} as const

/** Formats completely, with the time zone. */
export function formatTime(time: string, language: Language): string {
  const date = { year: 'numeric', month: 'short', day: 'numeric' } as const
  return formatWithZone(new Date(time), { ...date, ...CLOCK }, language)
}

/** Formats with the zone behind the time; Intl has it between day and time in Chinese. */
function formatWithZone(date: Date, form: Intl.DateTimeFormatOptions, language: Language): string {
  return `${timeFormat(language, form).format(date)} ${zoneAt(date, form, language)}`
}

function zoneAt(date: Date, form: Intl.DateTimeFormatOptions, language: Language): string {
  const parts = timeFormat(language, { ...form, timeZoneName: 'short' }).formatToParts(date)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/** Formats for tables: day and time, the year if it is another one. */
export function formatShortTime(time: string, language: Language): string {
  const date = new Date(time)
  const isThisYear = date.getFullYear() === new Date().getFullYear()
  const day = { month: 'short', day: '2-digit' } as const
  return timeFormat(language, {
    ...day,
    ...(isThisYear ? {} : { year: 'numeric' }),
    ...CLOCK,
  }).format(date)
}

/**
 * Formats a period, or the bound that it has: days where it begins and ends at midnight, the last
 * one included, else times.
 */
export function formatPeriod(
  from: string | undefined,
  to: string | undefined,
  language: Language,
): string {
  const given = [from, to].flatMap((time) => time ?? [])
  const bounds = given.map((time) => new Date(time))
  if (bounds.some((bound) => Number.isNaN(bound.getTime()))) return given.join(' – ')
  const isWhole = bounds.every((bound) => bound.getHours() + bound.getMinutes() === 0)
  const begin = from === undefined ? [] : [new Date(from)]
  const end = to === undefined ? [] : [new Date(Date.parse(to) - (isWhole ? 1 : 0))]
  const [one = new Date(), other = one] = [...begin, ...end]
  const thisYear = new Date().getFullYear()
  const isThisYear = one.getFullYear() === thisYear && other.getFullYear() === thisYear
  return timeFormat(language, {
    month: 'short',
    day: 'numeric',
    ...(isThisYear ? {} : { year: 'numeric' }),
    ...(isWhole ? {} : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  }).formatRange(one, other)
}

/** Formats a time by the clocks of another time zone, which it names. */
export function formatTimeIn(time: string, zone: string, language: Language): string {
  const date = new Date(time)
  const isThisYear = date.getFullYear() === new Date().getFullYear()
  const form = {
    ...(isThisYear ? {} : { year: 'numeric' as const }),
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  } as const
  try {
    return formatWithZone(date, { ...form, timeZone: zone }, language)
  } catch {
    // The gateway's database may know zones that an old browser does not.
    return formatWithZone(date, form, language)
  }
}

/** 1 → Monday. */
export function weekdayName(day: number, language: Language): string {
  const monday = Date.UTC(2024, 0, 1)
  const at = new Date(monday + (day - 1) * 86_400_000)
  return timeFormat(language, { weekday: 'long', timeZone: 'UTC' }).format(at)
}

/** The time zone of the browser, for the head of a column of times: `UTC`, `GMT+8`. */
export function zoneName(language: Language): string {
  return zoneAt(new Date(), {}, language)
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

/** Returns a time for a `datetime-local` field, in the browser's zone; '' for no time. */
export function toLocalField(time: Date): string {
  if (Number.isNaN(time.getTime())) return ''
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}

/** Returns the time of a `datetime-local` field as ISO 8601; '' for an empty one. */
export function fromLocalField(value: string): string {
  const time = new Date(value)
  return value === '' || Number.isNaN(time.getTime()) ? '' : time.toISOString()
}
