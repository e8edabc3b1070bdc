/** Periods of lists and charts: presets of whole days in the reader's time zone, or any bounds. */

/** ISO 8601; '' where a period has no such bound. */
export interface Period {
  readonly from: string
  readonly to: string
}

export const NO_PERIOD: Period = { from: '', to: '' }

/** Days from today on, from the first included to the first that is not. */
const DAY_PRESETS = { today: [0, 1], yesterday: [-1, 0], week: [-6, 1], days: [-29, 1] } as const
/** Months from this one on. */
const MONTH_PRESETS = { month: [0, 1], lastMonth: [-1, 0] } as const

export const PRESETS = ['today', 'yesterday', 'week', 'days', 'month', 'lastMonth'] as const
export type PeriodPreset = (typeof PRESETS)[number]

/** Returns a preset's bounds, which stay the same until midnight: so does the address. */
export function periodOf(preset: PeriodPreset, now: Date): Period {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()]
  const bounds =
    preset === 'month' || preset === 'lastMonth'
      ? MONTH_PRESETS[preset].map((offset) => new Date(year, month + offset, 1))
      : DAY_PRESETS[preset].map((offset) => new Date(year, month, day + offset))
  const [from = now, to = now] = bounds
  return { from: from.toISOString(), to: to.toISOString() }
}

/** Returns the preset that a period is, if it is one; compared as times, however written. */
export function presetOf({ from, to }: Period, now: Date): PeriodPreset | undefined {
  return PRESETS.find((preset) => {
    const own = periodOf(preset, now)
    return Date.parse(own.from) === Date.parse(from) && Date.parse(own.to) === Date.parse(to)
  })
}

/** Returns the local day of a bound for a date field; an end is the last day that it includes. */
export function toDay(time: string, isEnd: boolean): string {
  const at = new Date(time)
  if (time === '' || Number.isNaN(at.getTime())) return ''
  const day = isEnd ? new Date(at.getTime() - 1) : at
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${day.getFullYear()}-${pad(day.getMonth() + 1)}-${pad(day.getDate())}`
}

/** Converts a local day to its beginning, or to the beginning of the next day. */
export function fromDay(text: string, isEnd: boolean): string {
  const [year = 0, month = 1, day = 1] = text.split('-').map(Number)
  if (text === '') return ''
  return new Date(year, month - 1, day + (isEnd ? 1 : 0)).toISOString()
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A longer period has a column for each day. */
const BY_HOUR_MAX_MS = 3 * DAY_MS
/** The most that the gateway adds up at once. */
const LONGEST_MS = 400 * DAY_MS

/**
 * Returns the bounds of a chart, by default the last `days`. They are whole hours up to this one,
 * so that the query is cached for an hour.
 */
export function chartSpan({ from, to }: Period, nowMs: number, days: number) {
  const read = (time: string) => (time === '' ? Number.NaN : Date.parse(time))
  const hour = Math.ceil(nowMs / HOUR_MS) * HOUR_MS
  const endMs = Math.min(orElse(read(to), hour), hour)
  const beginMs = orElse(read(from), endMs - days * DAY_MS)
  const clampedMs = Math.min(Math.max(beginMs, endMs - LONGEST_MS), endMs - HOUR_MS)
  return {
    from: new Date(clampedMs).toISOString(),
    to: new Date(endMs).toISOString(),
    step: endMs - clampedMs <= BY_HOUR_MAX_MS ? ('hour' as const) : ('day' as const),
  }
}

function orElse(value: number, other: number): number {
  return Number.isNaN(value) ? other : value
}
