/** The period of the chart: the filtered days, else the last thirty. */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A longer period has a column for each day. */
const BY_HOUR_MAX_MS = 3 * DAY_MS
const DAYS = 30
/** The most that the gateway adds up at once. */
const LONGEST_MS = 400 * DAY_MS

interface Bounds {
  readonly from: string
  readonly to: string
}

export function readPeriod({ from, to }: Bounds, nowMs: number) {
  const read = (time: string) => (time === '' ? Number.NaN : Date.parse(time))
  const hour = Math.ceil(nowMs / HOUR_MS) * HOUR_MS
  const endMs = Math.min(orElse(read(to), hour), hour)
  const beginMs = orElse(read(from), endMs - DAYS * DAY_MS)
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
