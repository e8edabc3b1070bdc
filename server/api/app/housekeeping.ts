/**
 * Runs housekeeping jobs at intervals, one after the other, in small pieces with pauses between
 * them, so that calls are not slowed down. Several processes may run them at the same time.
 */
import type { Log } from '../../base/lib/log.ts'
import { createWaker } from '../../base/lib/queues/waker.ts'

export interface HousekeepingJob {
  readonly name: string
  /**
   * Does one small piece of the job and resolves to the number of items handled; 0 when nothing is
   * left.
   */
  run(): Promise<number>
}

export interface Housekeeping {
  /** Waits for the piece in progress. */
  stop(): Promise<void>
}

const PAUSE_MS = 20
/** Limits the pieces per round, so that a job with a large backlog does not delay the others. */
const PIECES_MAX = 1_000

export function startHousekeeping({
  jobs,
  everyMs,
  log,
}: {
  readonly jobs: readonly HousekeepingJob[]
  readonly everyMs: number
  readonly log: Log
}): Housekeeping {
  const waker = createWaker()
  let stopped = false

  async function runJob(job: HousekeepingJob): Promise<void> {
    let total = 0
    try {
      for (let piece = 0; piece < PIECES_MAX && !stopped; piece += 1) {
        const count = await job.run()
        if (count === 0) break
        total += count
        if (!stopped) await waker.wait(PAUSE_MS)
      }
    } catch (error) {
      log.warn({ error, job: job.name }, 'a housekeeping job failed, will be retried')
    }
    if (total > 0) log.debug({ job: job.name, count: total }, 'cleared away')
  }

  async function run(): Promise<void> {
    while (!stopped) {
      // Jitter separates processes that started together.
      await waker.wait(everyMs * (0.75 + Math.random() / 2))
      for (const job of jobs) if (!stopped) await runJob(job)
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
