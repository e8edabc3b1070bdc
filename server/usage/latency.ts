/** Percentiles out of counts by bucket, which can be added up over hours as percentiles cannot. */

/** As in latency_bucket: each bucket is a fifth wider than the one before. */
const GROWTH = 1.2

export interface Latency {
  readonly p50_ms: number | null
  readonly p95_ms: number | null
}

interface Bucket {
  readonly bucket: number
  readonly calls: bigint
}

/** Within a tenth of the true value: the geometric middle of the bucket it lies in. */
export function describeLatency(rows: readonly Bucket[]): Latency {
  const sorted = [...rows].sort((a, b) => a.bucket - b.bucket)
  const total = sorted.reduce((sum, { calls }) => sum + Number(calls), 0)
  return { p50_ms: quantile(sorted, total, 0.5), p95_ms: quantile(sorted, total, 0.95) }
}

function quantile(sorted: readonly Bucket[], total: number, share: number): number | null {
  let seen = 0
  for (const { bucket, calls } of sorted) {
    seen += Number(calls)
    if (seen >= total * share) return Math.round(GROWTH ** (bucket + 0.5))
  }
  return null
}
