/** Counts ended calls every ten seconds, for the console's figures, and adds up days. */
import type { Sql } from 'postgres'
import type { Log } from '../../base/lib/log.ts'
import { createWaker } from '../../base/lib/queues/waker.ts'
import { addUpDay, countEndedCalls } from './rollup-store.ts'

const EVERY_MS = 10_000
/** Calls settle on the same processor, so a longer transaction would delay them. */
const TRANSACTION_MS_MAX = 20
/**
 * Seconds of calls per transaction: the maximum for the first one of a turn, and the bounds for
 * all.
 */
const STEP_SECONDS = { first: 1, min: 0.25, max: 6 * 3600 }
/**
 * Pause after a transaction, as a multiple of its duration; a late turn pauses for one duration.
 */
const PAUSE_LENGTHS = 4

export interface Rollup {
  /** Waits for the transaction in progress. */
  stop(): Promise<void>
}

/**
 * Starts the counting. A failed count is retried at the next turn, since only figures depend on it.
 */
export function startRollup(options: {
  readonly sql: Sql
  readonly everyMs?: number
  readonly log: Pick<Log, 'warn'>
}): Rollup {
  const { sql, log, everyMs = EVERY_MS } = options
  const waker = createWaker()
  let stepSeconds = STEP_SECONDS.first
  let stopped = false

  /** Runs one short transaction after another until all calls are counted. */
  async function countAll(): Promise<void> {
    const startedAt = performance.now()
    stepSeconds = Math.min(stepSeconds, STEP_SECONDS.first)
    let hasMore = true
    while (!stopped && hasMore) {
      const start = performance.now()
      hasMore = await countStep()
      const now = performance.now()
      const lengths = now - startedAt > everyMs ? 1 : PAUSE_LENGTHS
      if (hasMore && !stopped) await waker.wait(lengths * (now - start))
    }
  }

  /** Adds up days that are over, for as long as a turn lasts: calls are counted first. */
  async function addUpDays(): Promise<void> {
    const startedAt = performance.now()
    while (!stopped && performance.now() - startedAt < everyMs) {
      const start = performance.now()
      if (!(await addUpDay(sql))) return
      if (!stopped) await waker.wait(PAUSE_LENGTHS * (performance.now() - start))
    }
  }

  async function countStep(): Promise<boolean> {
    const start = performance.now()
    try {
      const hasMore = await countEndedCalls(sql, stepSeconds)
      stepSeconds = adaptStep(stepSeconds, performance.now() - start)
      return hasMore
    } catch (error) {
      if (!isTimeout(error) || stepSeconds === STEP_SECONDS.min) throw error
      stepSeconds = Math.max(STEP_SECONDS.min, stepSeconds / 4)
      return true
    }
  }

  async function run(): Promise<void> {
    while (!stopped) {
      await waker.wait(everyMs)
      if (stopped) return
      await countAll()
        .then(addUpDays)
        .catch((error: unknown) => {
          log.warn({ error }, 'counting calls failed, will retry')
        })
    }
  }

  const loop = run()
  return {
    async stop() {
      stopped = true
      waker.wake()
      await loop
    },
  }
}

/** Returns the seconds of calls that the next transaction counts. */
function adaptStep(seconds: number, tookMs: number): number {
  if (tookMs > TRANSACTION_MS_MAX) return Math.max(STEP_SECONDS.min, seconds / 2)
  if (tookMs < TRANSACTION_MS_MAX / 3) return Math.min(STEP_SECONDS.max, seconds * 2)
  return seconds
}

/** Returns true for PostgreSQL's query_canceled: the statement timed out. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57014'
}
