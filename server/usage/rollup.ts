/** Counts ended calls every ten seconds, for the console's figures. */
import type { Sql } from 'postgres'
import type { Log } from '../lib/log.ts'
import { countEndedCalls } from './rollup-store.ts'

const EVERY_MS = 10_000
/** Seconds of calls per transaction, divided by four whenever one times out. */
const STEP_SECONDS_MAX = 6 * 3600
const STEP_SECONDS_MIN = 1

export interface Rollup {
  /** Counts the calls that have ended so far. Rejects if the database fails. */
  count(): Promise<void>
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
  const { sql, log } = options
  let stopped = false
  let running: Promise<void> = Promise.resolve()

  /** Runs one transaction after another until all calls are counted. */
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
        log.warn({ error }, 'counting calls failed, will retry')
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

/** Returns true for PostgreSQL's query_canceled: the statement timed out. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57014'
}
