/**
 * Works on due rows of a queue in the database: claims what there is room for, then waits for a
 * notification, for the end of some work or for the next due time, and claims again. Any number of
 * processes may do so side by side.
 */
import type { Sql } from 'postgres'
import type { Log } from '../lib/log.ts'
import { createWaker } from '../lib/queues/waker.ts'
import { inBackground } from './connection/client.ts'

export interface ClaimQueue {
  readonly sql: Sql
  readonly log: Log
  /** The plural name of the rows in the log: `deliveries`. */
  readonly name: string
  /** The database's notifications of new rows. */
  readonly notifications: string
  /**
   * Claims rows and hands the work on each to `start` at once, since its lease has begun. `running`
   * counts the work that has not ended. Where connections are few, `sql` gives way to calls.
   */
  claim(sql: Sql, start: StartWork, running: number): Promise<void>
  /**
   * Milliseconds until the next row becomes due, or null if no row becomes due before some work
   * ends.
   */
  readNextMs(sql: Sql, running: number): Promise<number | null>
}

/**
 * The longest time ahead for which rows of a queue are scheduled. A row that is due later was
 * scheduled before the database's clock was set back, and would wait until that time comes again.
 */
export const DUE_SECONDS_MAX = 900

/** Work that rejects is logged with `fields`; its row is left to the end of its lease. */
export type StartWork = (work: Promise<void>, fields: object) => void

export interface ClaimLoop {
  /** Work under way. */
  size(): number
  /** Stops claiming. Resolves when the last claim has been made. */
  stop(): Promise<void>
  /** Resolves when all work has ended. */
  drain(): Promise<void>
}

/** Notifications can be lost, so rows are also polled for at this interval. */
const POLL_MS = 1_000
/** A pause, since rows that another process is about to take are still due meanwhile. */
const WAIT_MS_MIN = 20

export function startClaimLoop(queue: ClaimQueue): ClaimLoop {
  const { sql, log, name } = queue
  const background = inBackground(sql)
  const running = new Set<Promise<void>>()
  const waker = createWaker()
  let isStopped = false

  function start(work: Promise<void>, fields: object): void {
    const one = work
      .catch((error: unknown) =>
        log.warn({ ...fields, error }, 'work failed, retried once its lease has expired'),
      )
      .finally(() => {
        running.delete(one)
        waker.wake()
      })
    running.add(one)
  }

  async function poll(): Promise<number> {
    try {
      await queue.claim(background, start, running.size)
      const nextMs = (await queue.readNextMs(background, running.size)) ?? POLL_MS
      return Math.min(Math.max(Math.ceil(nextMs), WAIT_MS_MIN), POLL_MS)
    } catch (error) {
      log.warn({ error }, `${name} wait for the database`)
      return POLL_MS
    }
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      const waitMs = await poll()
      if (!isStopped) await waker.wait(waitMs)
    }
  }

  const listening = sql
    .listen(queue.notifications, waker.wake, waker.wake)
    .catch((error) => void log.warn({ error }, `no notifications of ${name}: polling only`))
  const loop = run()

  return {
    size: () => running.size,
    async stop() {
      isStopped = true
      waker.wake()
      await loop
      await (await listening)?.unlisten().catch(() => undefined)
    },
    async drain() {
      await Promise.all(running)
    },
  }
}
