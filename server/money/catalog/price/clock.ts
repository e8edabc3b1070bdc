/**
 * Prices by the hour: the fact `clock`, for vendors that charge more at certain times of the week.
 * It is set by the gateway's clock when a call arrives; vendors do not document which moment
 * counts.
 */
import { z } from 'zod'
import type { Facts, Model } from '../catalog.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60
/** A call that arrives within this time before a boundary may be billed on its other side. */
const BORDER_MINUTES = 15

const hours = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$/, 'must be like "09:00-12:00"')
  .refine((text) => text.slice(0, 5) < text.slice(6), {
    error: 'must end after it begins: split a span across midnight into two',
  })

/** The peak hours of a model, as in `details.peak_hours` of the catalog. */
export const peakHours = z.strictObject({
  /** The offset from UTC for days and hours. */
  time_zone: z.string().regex(/^[+-]([01]\d|2[0-3]):[0-5]\d$/, 'must be like "+08:00"'),
  /** 1 is Monday, 7 is Sunday. */
  days: z.array(z.int().min(1).max(7)).min(1).max(7),
  hours: z.array(hours).min(1).max(24),
  /** Dates without peak hours regardless of the weekday, such as public holidays. */
  except: z.array(z.iso.date('must be a date such as "2027-01-01"')).max(1000).optional(),
})

type PeakHours = z.output<typeof peakHours>

export interface ClockFacts {
  /** The fact when the call arrives, which decides its charge. */
  readonly onArrival: Facts
  /** The facts to hold for: both values near a boundary. The first is `onArrival`. */
  readonly alternatives: readonly [Facts, ...Facts[]]
}

const NO_FACTS: Facts = {}
const NO_CLOCK: ClockFacts = { onArrival: NO_FACTS, alternatives: [NO_FACTS] }
const PEAK: Facts = { clock: 'peak' }
const OFF_PEAK: Facts = { clock: 'off_peak' }

/**
 * Returns the `clock` facts of a call to a model that arrives at `date`: `{clock: 'peak'}` or
 * `{clock: 'off_peak'}`, with both as alternatives within 15 minutes before a boundary. A model
 * without peak hours has no such fact.
 */
export function clockFacts({ details }: Pick<Model, 'details'>, date: Date): ClockFacts {
  if (details.peak_hours === undefined) return NO_CLOCK
  const peak = readPeakHours(details)
  if (!peak) return NO_CLOCK
  const moment = date.getTime()
  const isNow = isPeak(peak, moment)
  const [onArrival, other] = isNow ? [PEAK, OFF_PEAK] : [OFF_PEAK, PEAK]
  for (let minute = 1; minute <= BORDER_MINUTES; minute++) {
    if (isPeak(peak, moment + minute * MINUTE_MS) !== isNow) {
      return { onArrival, alternatives: [onArrival, other] }
    }
  }
  return { onArrival, alternatives: [onArrival] }
}

const read = new WeakMap<Model['details'], PeakHours | null>()

/** Parses the peak hours once per details object, which is immutable. */
function readPeakHours(details: Model['details']): PeakHours | null {
  const known = read.get(details)
  if (known !== undefined) return known
  const { data = null } = peakHours.safeParse(details.peak_hours)
  read.set(details, data)
  return data
}

function isPeak({ time_zone, days, hours: spans, except }: PeakHours, moment: number): boolean {
  const local = new Date(moment + offsetMinutes(time_zone) * MINUTE_MS)
  // getUTCDay returns 0 for Sunday.
  if (!days.includes(local.getUTCDay() || 7)) return false
  if (except?.includes(local.toISOString().slice(0, 10))) return false
  const minute = local.getUTCHours() * 60 + local.getUTCMinutes()
  return spans.some((span) => {
    const [from = 0, to = DAY_MINUTES] = span.split('-').map(minutesOf)
    return from <= minute && minute < to
  })
}

function offsetMinutes(zone: string): number {
  return minutesOf(zone.slice(1)) * (zone.startsWith('-') ? -1 : 1)
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
}
