/** Adds the hours and days without a call, which the API leaves out. */

export type BucketStep = 'hour' | 'day'

interface Bucket {
  readonly at: string
}

interface Span {
  readonly from: string
  readonly to: string
  readonly step: BucketStep
}

/** The fewest slots: a chart of one column says nothing about time. */
const SLOTS_MIN = 6
const STEP_MS = { hour: 3_600_000, day: 24 * 3_600_000 } as const

/** Returns the span from the first data on: a first day’s chart would be void but for its end. */
export function fromFirst(rows: readonly Bucket[], { from, to, step }: Span): Span {
  if (rows.length === 0) return { from, to, step }
  const first = Math.min(...rows.map(({ at }) => Date.parse(at)))
  const latest = Date.parse(to) - SLOTS_MIN * STEP_MS[step]
  const begin = Math.max(Date.parse(from), Math.min(first, latest))
  return { from: new Date(begin).toISOString(), to, step }
}

/** Returns one entry for each step from `from` to `to`, with its bucket if there is one. */
export function fillBuckets<Row extends Bucket>(
  rows: readonly Row[],
  { from, to, step }: Span,
): readonly { readonly at: string; readonly row: Row | undefined }[] {
  const byTime = new Map(rows.map((row) => [new Date(row.at).getTime(), row]))
  const filled: { at: string; row: Row | undefined }[] = []
  const end = new Date(to).getTime()
  for (let at = beginning(from, step); at.getTime() < end; at = next(at, step)) {
    filled.push({ at: at.toISOString(), row: byTime.get(at.getTime()) })
  }
  return filled
}

function beginning(time: string, step: BucketStep): Date {
  const at = new Date(time)
  if (step === 'day') at.setHours(0)
  at.setMinutes(0, 0, 0)
  return at
}

/** Steps by calendar day: a local day may have 23 or 25 hours. */
function next(at: Date, step: BucketStep): Date {
  if (step === 'hour') return new Date(at.getTime() + 3_600_000)
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() + 1)
}
