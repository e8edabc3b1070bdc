/** Climbs a ladder of rates and keeps how long calls take on each rung. */
import { median } from '../../testbed/results.ts'
import { paceCalls } from '../peers/pace-calls.ts'
import { PATH, requestBody } from '../peers/wrk.ts'
import type { Contestant } from './contestant.ts'

/** A kind of call. Answers to 300 KB have 100 KB; a stream has 100 events. */
export interface Shape {
  readonly name: string
  readonly stream: boolean
  readonly kilobytes: number
}

export const SHAPES: readonly Shape[] = [
  { name: '1 KB', stream: false, kilobytes: 1 },
  { name: '1 KB streamed', stream: true, kilobytes: 1 },
  { name: '300 KB', stream: false, kilobytes: 300 },
  { name: '300 KB streamed', stream: true, kilobytes: 300 },
]

export const LIMITS_MS = [5, 10, 50, 100] as const

export interface Rung {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly errors: number
  /** Processor time of a call in all processes of the gateway, in microseconds. */
  readonly microseconds: number
}

const FIRST_PER_SECOND = 16
const STEP = 1.5
const PER_SECOND_MAX = 20_000
const MISSES_MAX = 2

/**
 * Raises the rate by half until two rungs in a row have errors or a p99 beyond the last limit.
 * The load is open: calls are due at their time, whatever became of those before.
 */
export async function climb(
  one: Contestant,
  shape: Shape,
  seconds: number,
): Promise<readonly Rung[]> {
  const body = requestBody(shape.stream, shape.kilobytes)
  const target = { name: one.name, url: one.url, headers: one.headers, path: PATH }
  const rungs: Rung[] = []
  let misses = 0
  for (let rate = FIRST_PER_SECOND; rate < PER_SECOND_MAX; rate *= STEP) {
    const perSecond = Math.round(rate)
    const before = one.cpuSeconds()
    const { p50, p99, errors } = await paceCalls(target, { perSecond, seconds, body })
    const microseconds = ((one.cpuSeconds() - before) * 1e6) / (perSecond * seconds)
    rungs.push({ perSecond, p50, p99, errors, microseconds })
    misses = errors > 0 || p99 > (LIMITS_MS.at(-1) ?? 0) ? misses + 1 : 0
    if (misses === MISSES_MAX) break
  }
  return rungs
}

/** Returns the highest rate within the limit: the median of the rounds. 0 if none was. */
export function bestWithin(rounds: readonly (readonly Rung[])[], limitMs: number): number {
  const best = rounds.map((rungs) =>
    Math.max(0, ...rungs.filter(({ p99, errors }) => errors === 0 && p99 <= limitMs).map(rateOf)),
  )
  return median(best)
}

function rateOf({ perSecond }: Rung): number {
  return perSecond
}

/** Returns the processor time of a call on the highest rung within the last limit. */
export function costOf(rounds: readonly (readonly Rung[])[]): number {
  const limit = LIMITS_MS.at(-1) ?? 0
  const costs = rounds.flatMap((rungs) => {
    const last = rungs.findLast(({ p99, errors }) => errors === 0 && p99 <= limit)
    return last === undefined ? [] : [last.microseconds]
  })
  return median(costs)
}
