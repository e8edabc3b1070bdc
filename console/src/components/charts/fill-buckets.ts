/** Adds the hours and days without a call, which the API leaves out. */

export type BucketStep = 'hour' | 'day'

interface Bucket {
  readonly at: string
}

/** Returns one entry for each step from `from` to `to`, with its bucket if there is one. */
export function fillBuckets<Row extends Bucket>(
  rows: readonly Row[],
  { from, to, step }: { readonly from: string; readonly to: string; readonly step: BucketStep },
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
