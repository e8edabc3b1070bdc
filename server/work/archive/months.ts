/** Months of UTC, and the ids of the holds that were taken in them. */
import { timeDigits, timeOfId } from '../../base/lib/ids.ts'
import { OperatorError } from '../../base/lib/operator-error.ts'

export interface Month {
  /** For example `2030-01`. */
  readonly name: string
  readonly start: Date
  readonly end: Date
  /** Holds of the month have ids between these two. */
  readonly afterId: string
  readonly endId: string
}

const NAME = /^(\d{4})-(0[1-9]|1[0-2])$/

/** Throws OperatorError unless the name is like `2030-01`. */
export function readMonth(name: string): Month {
  const [, year, number] = NAME.exec(name) ?? []
  if (year === undefined) throw new OperatorError(`${name} is not a month: write 2030-01`)
  return monthOf(new Date(Date.UTC(Number(year), Number(number) - 1, 1)))
}

/** Returns the month that contains a time. */
export function monthOf(time: Date): Month {
  const start = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), 1))
  const end = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1))
  const name = start.toISOString().slice(0, 7)
  return { name, start, end, afterId: firstId(start), endId: firstId(end) }
}

/** Returns the month of a hold's id, or undefined if it has no time. */
export function monthOfHold(holdId: string): Month | undefined {
  const time = timeOfId(holdId)
  return time && monthOf(time)
}

/** Returns the time `months` months before `now`. */
export function monthsBefore(now: Date, months: number): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, now.getUTCDate()))
}

/** Sorts before each id of this time or later: an id has further characters. */
function firstId(time: Date): string {
  return `hold_${timeDigits(time.getTime())}`
}
