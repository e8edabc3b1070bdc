/** Counts ended calls every ten seconds, for the console's figures. */
import type { Sql } from 'postgres'
import type { Log } from '../lib/log.ts'
import { countEndedCalls } from './rollup-store.ts'

const EVERY_MS = 10_000
/**
 * Seconds of calls that one transaction counts, divided by four each time that it takes too long.
 */
const STEP_SECONDS_MAX = 6 * 3600
const STEP_SECONDS_MIN = 1

export interface Rollup {
  /** Counts the calls that have ended so far. Rejects where the database fails. */
  count(): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts the counting. A count that fails is repeated at the next turn: only figures depend on it.
 */
export function startRollup(options: {
  readonly sql: Sql
  readonly everyMs?: number
  readonly log: Pick<Log, 'warn'>
}): Rollup {
  const { sql, log } = options
  let stopped = false
  let running: Promise<void> = Promise.resolve()

  /** One transaction after the other, until it has caught up. */
  async function countAll(): Promise<void> {
    let stepSeconds = STEP_SECONDS_MAX
    let hasMore = true
    while (!stopped && hasMore) {
      hasMore = await countEndedCalls(sql, stepSeconds).catch((error: unknown) => {
        if (!isTimeout(error) || stepSeconds <= STEP_SECONDS_MIN) throw error
        stepSeconds = Math.max(STEP_SECONDS_MIN, stepSeconds / 4)
        return true
      })
    }
  }

  function count(): Promise<void> {
    running = running.then(countAll)
    return running
  }

  let isTurn = false
  const timer = setInterval(() => {
    if (isTurn) return
    isTurn = true
    count()
      .catch((error: unknown) => {
        running = Promise.resolve()
        log.warn({ error }, 'counting calls failed, will be repeated')
      })
      .finally(() => {
        isTurn = false
      })
  }, options.everyMs ?? EVERY_MS)
  timer.unref()

  return {
    count,
    async stop() {
      stopped = true
      clearInterval(timer)
      await running.catch(() => undefined)
    },
  }
}

/** PostgreSQL's query_canceled: the statement took longer than a statement may. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57014'
}
