/** When to look again. Pure: ages come from the database's clock, randomness from the caller. */

/** Time-outs and paces of the task engine, in milliseconds. */
export interface TaskTimes {
  /** A claim is worth this much; a process that died is replaced after it. */
  readonly leaseMs: number
  readonly pollMsMin: number
  readonly pollMsMax: number
  /** For the head of one answer to a look, and for every silence after it. */
  readonly pollTimeoutMs: number
  /** For one submission; after it the outcome is unknown. */
  readonly submitTimeoutMs: number
  /** A submission of unknown outcome is given up at this age, after at least two passes. */
  readonly unknownMs: number
  /** Between two passes over the upstream's list. */
  readonly passMs: number
  /** How far an upstream's clock may differ from ours. */
  readonly skewMs: number
  /** An upstream that keeps saying it knows no such task is believed after this. */
  readonly goneMs: number
  /** A task without an end is given up at this age. */
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

/** Looks come less often as a task grows older: a tenth of its age, within bounds. */
export function nextPollMs(ageMs: number, times: TaskTimes, random = Math.random()): number {
  const pace = Math.min(Math.max(ageMs / 10, times.pollMsMin), times.pollMsMax)
  return pace * (0.8 + 0.4 * random)
}

/** A vendor that asks for more is asked again after this: a mistake must not be the end. */
const COOLDOWN_MS_MAX = 600_000

/** How long a vendor wants to be left alone; without a word of its own, for a second. */
export function cooldownMs(retryAfterSeconds = 1): number {
  return Math.min(retryAfterSeconds * 1000, COOLDOWN_MS_MAX)
}

/** After `failures` looks in a row that failed; an upstream's own Retry-After is the least. */
export function retryPollMs(
  failures: number,
  times: TaskTimes,
  retryAfterSeconds = 0,
  random = Math.random(),
): number {
  const backOff = Math.min(times.pollMsMin * 2 ** Math.min(failures, 10), 2 * times.pollMsMax)
  return Math.max(backOff * (0.5 + 0.5 * random), cooldownMs(retryAfterSeconds))
}
