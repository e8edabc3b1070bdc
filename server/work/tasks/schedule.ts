/** Poll intervals and backoff. Pure: ages come from the database, randomness from the caller. */

/** Timeouts and intervals of the task engine, in milliseconds. */
export interface TaskTimes {
  /** Lease of a claim; after it, another process takes over from one that died. */
  readonly leaseMs: number
  /** Poll interval of a new task. */
  readonly pollMsMin: number
  /** Longest poll interval, before jitter. */
  readonly pollMsMax: number
  /** Timeout for the headers of a poll's response, and for each silence after them. */
  readonly pollTimeoutMs: number
  /** Timeout of one submission; after it the outcome is unknown. */
  readonly submitTimeoutMs: number
  /** A submission of unknown outcome is given up at this age, after at least two passes. */
  readonly unknownMs: number
  /** Interval between two passes of reconciliation. */
  readonly passMs: number
  /** Largest clock difference to an upstream. */
  readonly skewMs: number
  /** A task that the upstream reports as unknown for this long is given up. */
  readonly goneMs: number
  /** An open task expires at this age. */
  readonly ageMsMax: number
}

export const TASK_TIMES: TaskTimes = {
  leaseMs: 25_000,
  pollMsMin: 2_000,
  pollMsMax: 30_000,
  pollTimeoutMs: 10_000,
  submitTimeoutMs: 60_000,
  unknownMs: 600_000,
  passMs: 60_000,
  skewMs: 120_000,
  goneMs: 600_000,
  ageMsMax: 49 * 3_600_000,
}

/** Returns the poll interval: a tenth of the task's age, within bounds, with jitter. */
export function nextPollMs(ageMs: number, times: TaskTimes, random = Math.random()): number {
  const intervalMs = Math.min(Math.max(ageMs / 10, times.pollMsMin), times.pollMsMax)
  return intervalMs * (0.8 + 0.4 * random)
}

/** Upper bound of a vendor's Retry-After, so that a wrong value cannot stop a channel. */
const COOLDOWN_MS_MAX = 600_000

/** Returns the cooldown that a vendor asked for; one second by default. */
export function cooldownMs(retryAfterSeconds = 1): number {
  return Math.min(retryAfterSeconds * 1000, COOLDOWN_MS_MAX)
}

/** Returns the backoff after `failures` failed polls in a row; at least the Retry-After. */
export function retryPollMs(
  failures: number,
  times: TaskTimes,
  retryAfterSeconds = 0,
  random = Math.random(),
): number {
  const backoffMs = Math.min(times.pollMsMin * 2 ** Math.min(failures, 10), 2 * times.pollMsMax)
  return Math.max(backoffMs * (0.5 + 0.5 * random), cooldownMs(retryAfterSeconds))
}
