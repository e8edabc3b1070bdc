/** Figures of slices: the honest callers' times, and the gateway's own loop and memory. */
import { quantile } from '../../testbed/results.ts'
import type { HonestCall } from './honest.ts'
import type { Slice } from './slices.ts'
import type { Sample } from './watch-process.ts'

export interface Figures {
  readonly calls: number
  /** Honest calls without a whole answer. */
  readonly failed: number
  /** Their statuses, or how they ended. */
  readonly instead: Readonly<Record<string, number>>
  readonly p50Ms: number
  readonly p99Ms: number
  /** The longest time for which the gateway's event loop was blocked. */
  readonly loopMs: number
  /** The highest resident memory. */
  readonly residentMb: number
  /** The largest heap and the most buffers outside it, not of the same moment. */
  readonly heapMb: number
  readonly buffersMb: number
  /** The share of a core that the gateway used. */
  readonly cores: number
}

function countBy<T>(all: readonly T[], name: (one: T) => string): Record<string, number> {
  const groups = Map.groupBy(all, name)
  return Object.fromEntries([...groups].map(([key, { length }]) => [key, length]))
}

export function figuresOf(
  slices: readonly Slice[],
  calls: readonly HonestCall[],
  samples: readonly Sample[],
): Figures {
  const within = <T extends { readonly at: number }>(all: readonly T[]) =>
    all.filter(({ at }) => slices.some(({ from, to }) => at >= from && at < to))
  const ours = within(calls)
  const times = ours.map(({ milliseconds }) => milliseconds)
  const own = within(samples)
  const spanMs = slices.reduce((sum, { from, to }) => sum + to - from, 0)
  const failed = ours.filter(({ outcome }) => outcome !== 'complete')
  return {
    calls: ours.length,
    failed: failed.length,
    instead: countBy(failed, ({ kind, status, outcome }) =>
      status >= 400 ? `${status} of ${kind}` : `${kind} ${outcome}`,
    ),
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    loopMs: Math.max(0, ...own.map(({ loopMs }) => loopMs)),
    residentMb: Math.max(0, ...own.map(({ residentMb }) => residentMb)),
    heapMb: Math.max(0, ...own.map(({ heapMb }) => heapMb)),
    buffersMb: Math.max(0, ...own.map(({ buffersMb }) => buffersMb)),
    cores: own.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / Math.max(1, spanMs),
  }
}
