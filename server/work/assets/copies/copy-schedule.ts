/** Limits of a copy and the backoff between its attempts. Pure. */

export interface CopyLimits {
  /** Concurrent copies of this process. */
  readonly slots: number
  /** Lease of a claim, renewed while the copy runs. */
  readonly leaseMs: number
  /** Timeout from the DNS lookup to the headers of the origin's response. */
  readonly headMs: number
  /** Timeout of each silence of the origin. */
  readonly idleMs: number
  /** Timeout of one copy in total. */
  readonly totalMs: number
  readonly bytesMax: number
  /** A process that keeps no files leaves due copies to others for this time. */
  readonly leftMs: number
  /** Backoff after the first failure; it doubles up to the maximum. */
  readonly waitMsMin: number
  readonly waitMsMax: number
}

export const COPY_LIMITS: CopyLimits = {
  slots: 4,
  leaseMs: 30_000,
  headMs: 20_000,
  idleMs: 30_000,
  totalMs: 1_800_000,
  bytesMax: 2_000_000_000,
  leftMs: 60_000,
  waitMsMin: 2_000,
  waitMsMax: 600_000,
}

/** The last attempt starts this long before the link expires. */
const MARGIN_MS = 30_000

/**
 * Returns the milliseconds until the next attempt after `attempts` failures, or null when the link
 * expires first.
 */
export function copyBackoffMs(
  attempts: number,
  expiresInMs: number,
  limits: CopyLimits,
  random = Math.random(),
): number | null {
  const backoffMs = Math.min(limits.waitMsMin * 2 ** Math.min(attempts - 1, 20), limits.waitMsMax)
  const waitMs = backoffMs * (0.75 + 0.5 * random)
  if (waitMs < expiresInMs) return waitMs
  const lastMs = expiresInMs - MARGIN_MS
  return lastMs > limits.waitMsMin ? lastMs : null
}
