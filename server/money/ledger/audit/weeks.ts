/** Weeks of UTC, from Monday, and the ids of the holds that were taken in them. */
import { timeDigits } from '../../../base/lib/ids.ts'

export interface Week {
  /** Its Monday, for example `2030-01-07`. */
  readonly name: string
  readonly end: Date
  /** Its holds have ids from the first of these, and below the second. */
  readonly startId: string
  readonly endId: string
}

const DAY_MS = 86_400_000
/** 1 January 1970 was a Thursday. */
const MONDAY_TO_THURSDAY = 3

/** Returns the week that contains a time. */
export function weekOf(time: Date): Week {
  const day = Math.floor(time.getTime() / DAY_MS)
  const start = (day - ((day + MONDAY_TO_THURSDAY) % 7)) * DAY_MS
  const end = start + 7 * DAY_MS
  return {
    name: new Date(start).toISOString().slice(0, 10),
    end: new Date(end),
    startId: `hold_${timeDigits(start)}`,
    endId: `hold_${timeDigits(end)}`,
  }
}
