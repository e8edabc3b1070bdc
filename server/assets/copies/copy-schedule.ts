/** When a copy is tried again, and what one may take. Pure. */

export interface CopyLimits {
  /** Copies at once by this process. */
  readonly slots: number
  /** A claim is worth this much; it is renewed while the copy goes on. */
  readonly leaseMs: number
  /** From the look-up of the origin's name to the head of its answer. */
  readonly headMs: number
  /** The longest silence of an origin. */
  readonly idleMs: number
  /** For one copy as a whole. */
  readonly totalMs: number
  readonly bytesMax: number
  /** The first wait after a failure; each further one is twice as long, up to the most. */
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
  waitMsMin: 2_000,
  waitMsMax: 600_000,
}

/** A last try comes this long before the link's end. */
const MARGIN_MS = 30_000

/**
 * Milliseconds until the next try after `attempts` that failed, or null when the link will not
 * live to see it.
 */
export function copyBackoffMs(
  attempts: number,
  leftMs: number,
  limits: CopyLimits,
  random = Math.random(),
): number | null {
  const backOff = Math.min(limits.waitMsMin * 2 ** Math.min(attempts - 1, 20), limits.waitMsMax)
  const waitMs = backOff * (0.75 + 0.5 * random)
  if (waitMs < leftMs) return waitMs
  const lastMs = leftMs - MARGIN_MS
  return lastMs > limits.waitMsMin ? lastMs : null
}
