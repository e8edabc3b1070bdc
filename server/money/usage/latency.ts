/** Computes percentiles from bucket counts, which, unlike percentiles, can be added over hours. */

/** Must match latency_bucket: each bucket is 20 % wider than the one before. */
const GROWTH = 1.2

export interface Latency {
  readonly p50_ms: number | null
  readonly p95_ms: number | null
}

interface Bucket {
  readonly bucket: number
  readonly calls: bigint
}

/** Returns the geometric mean of the percentile's bucket, within 10 % of the true value. */
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
