/** Months and weeks of UTC, and the ids of the holds that were taken in them. */
import { timeDigits, timeOfId } from '../../base/lib/ids.ts'
import { OperatorError } from '../../base/lib/operator-error.ts'
import { weekOf } from '../../money/ledger/audit/weeks.ts'

export type PeriodKind = 'month' | 'week'

export interface ArchivePeriod {
  readonly kind: PeriodKind
  /** A month such as `2030-01`, or the Monday of a week such as `2030-01-07`. */
  readonly name: string
  readonly start: Date
  readonly end: Date
  /** Holds of the period have ids between these two. */
  readonly afterId: string
  readonly endId: string
}

/** An age of whole months or weeks. */
export interface Age {
  readonly kind: PeriodKind
  readonly count: number
}

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/
const DAY = /^\d{4}-\d{2}-\d{2}$/
const WEEK_MS = 7 * 86_400_000

/** Throws OperatorError unless the name is like `2030-01`. */
export function readMonth(name: string): ArchivePeriod {
  const [, year, number] = MONTH.exec(name) ?? []
  if (year === undefined) throw new OperatorError(`${name} is not a month: write 2030-01`)
  return monthOf(new Date(Date.UTC(Number(year), Number(number) - 1, 1)))
}

/** Throws OperatorError unless the name is the Monday of a week, like `2030-01-07`. */
export function readWeek(name: string): ArchivePeriod {
  const time = DAY.test(name) ? new Date(`${name}T00:00:00Z`) : undefined
  if (!time || Number.isNaN(time.getTime()) || nameOfDay(time) !== name) {
    throw new OperatorError(`${name} is not a day: write the Monday of a week, such as 2030-01-07`)
  }
  const week = weekAt(time)
  if (week.name === name) return week
  throw new OperatorError(`${name} is not a Monday: its week is ${week.name}`)
}

/** Returns the month that contains a time. */
export function monthOf(time: Date): ArchivePeriod {
  const start = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), 1))
  const end = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1))
  const name = start.toISOString().slice(0, 7)
  return { kind: 'month', name, start, end, afterId: firstId(start), endId: firstId(end) }
}

/** Returns the week that contains a time: the same weeks as those that the audit verifies. */
export function weekAt(time: Date): ArchivePeriod {
  const { name, end, startId, endId } = weekOf(time)
  const start = new Date(end.getTime() - WEEK_MS)
  return { kind: 'week', name, start, end, afterId: startId, endId }
}

/** Returns the period of this kind that contains a time. */
export function periodAt(kind: PeriodKind, time: Date): ArchivePeriod {
  return kind === 'month' ? monthOf(time) : weekAt(time)
}

/** Returns the period of this kind of a hold's id, or undefined if it has no time. */
export function periodOfHold(kind: PeriodKind, holdId: string): ArchivePeriod | undefined {
  const time = timeOfId(holdId)
  return time && periodAt(kind, time)
}

/** Returns the first day of a period, by which the database knows it. */
export function firstDayOf(name: string): string {
  return MONTH.test(name) ? `${name}-01` : name
}

/** Returns the time that was an age before `now`. */
export function timeBefore(now: Date, { kind, count }: Age): Date {
  if (kind === 'week') return new Date(now.getTime() - count * WEEK_MS)
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count, now.getUTCDate()))
}

function nameOfDay(time: Date): string {
  return time.toISOString().slice(0, 10)
}

/** Sorts before every id of this time or later, since ids have further characters. */
function firstId(time: Date): string {
  return `hold_${timeDigits(time.getTime())}`
}
