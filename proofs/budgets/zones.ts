/** The windows of the proof's own book: calendar dates by Intl, without the database. */

/** Moments at which days, weeks or months begin, each in one of four zones. */
export const EDGES = [
  '2026-06-01T00:00:00Z',
  '2026-07-01T00:00:00Z',
  '2026-06-30T16:00:00Z',
  '2026-08-31T16:00:00Z',
  // New York: days of 23 and 25 hours, and the ends of those.
  '2026-03-08T05:00:00Z',
  '2026-03-09T04:00:00Z',
  '2026-11-01T04:00:00Z',
  '2026-11-02T05:00:00Z',
  // Auckland: 25 and 23 hours.
  '2026-04-05T12:00:00Z',
  '2026-09-27T11:00:00Z',
] as const

/** As EDGES, still to come: whole gateways delete counters of windows that are long over. */
export const EDGES_AHEAD = [
  // New York: the beginning and the end of days of 23 and 25 hours.
  '2027-03-14T05:00:00Z',
  '2027-03-15T04:00:00Z',
  '2027-11-07T04:00:00Z',
  '2027-11-08T05:00:00Z',
  // Auckland: 25 and 23 hours.
  '2027-04-04T12:00:00Z',
  '2027-09-26T11:00:00Z',
  // Shanghai, UTC: months.
  '2027-06-30T16:00:00Z',
  '2027-06-01T00:00:00Z',
] as const

export const ZONES = ['UTC', 'Asia/Shanghai', 'America/New_York', 'Pacific/Auckland'] as const

const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns the date in the zone as days since 1970. */
function dayOf(zone: string, at: number): number {
  let format = formats.get(zone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
    formats.set(zone, format)
  }
  return Date.parse(`${format.format(at)}T00:00:00Z`) / 86_400_000
}

export interface Calendar {
  readonly period: string
  readonly time_zone: string
  readonly week_start: number
}

/** Returns a name of the window of a moment: equal for moments of one window. */
export function windowName({ period, time_zone, week_start }: Calendar, at: number): string {
  if (period === 'total') return 'total'
  const day = dayOf(time_zone, at)
  if (period === 'day') return `day ${day}`
  if (period === 'month') return new Date(day * 86_400_000).toISOString().slice(0, 7)
  // 1970-01-01 was a Thursday, the fourth day.
  return `week ${Math.floor((day + 4 - week_start) / 7)}`
}
