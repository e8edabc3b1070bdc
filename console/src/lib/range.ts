/** The periods of the overview. */

export const RANGES = {
  day: { hours: 24, step: 'hour' },
  week: { hours: 7 * 24, step: 'hour' },
  month: { hours: 30 * 24, step: 'day' },
} as const

export type RangeName = keyof typeof RANGES

export function readRangeName(text: string): RangeName {
  return text === 'week' || text === 'month' ? text : 'day'
}

const HOUR_MS = 3_600_000

/** Returns whole hours, so that the query is cached for an hour. */
export function spanOf(name: RangeName, nowMs: number) {
  const { hours, step } = RANGES[name]
  const end = Math.ceil(nowMs / HOUR_MS) * HOUR_MS
  return {
    from: new Date(end - hours * HOUR_MS).toISOString(),
    to: new Date(end).toISOString(),
    step,
  }
}
