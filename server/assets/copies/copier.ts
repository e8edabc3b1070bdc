/**
 * Copies what tasks made into our storage: claims as much as there are free slots, waits for a
 * notification, for a slot or for the next due time, and claims again. Any number of processes may
 * do so side by side. Nobody waits for it: a task is settled and announced before its copy.
 */
import { createWaker } from '../../lib/queues/waker.ts'
import { ASSET_NOTIFICATIONS } from '../library/asset-store.ts'
import { type CopyContext, copyOne } from './copy-one.ts'
import { COPY_LIMITS, type CopyLimits } from './copy-schedule.ts'
import { claimCopies, readNextCopyMs } from './copy-store.ts'

export interface CopierOptions extends Omit<CopyContext, 'signal' | 'limits'> {
  readonly limits?: CopyLimits
}

export interface Copier {
  /** Cuts the copies under way and leaves them to others. */
  stop(): Promise<void>
}

/** Notifications can be lost: nothing waits longer for a look than this. */
const POLL_INTERVAL_MS = 1_000
const WAIT_MS_MIN = 20

export function startCopier(options: CopierOptions): Copier {
  const { sql, log, limits = COPY_LIMITS } = options
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  const waker = createWaker()
  const context = { ...options, limits, signal: stopping.signal }
  const listening = sql
    .listen(ASSET_NOTIFICATIONS, waker.wake, waker.wake)
    .catch((error) => void log.warn({ error }, 'no notifications of results: polling only'))

  async function claim(): Promise<number> {
    const free = limits.slots - running.size
    if (free <= 0) return 0
    const claimed = await claimCopies(sql, free, limits.leaseMs)
    for (const one of claimed) {
      const work = copyOne(one, context)
        .catch((error) => log.warn({ error, asset_id: one.id }, 'a copy is left to the next lease'))
        .finally(() => {
          running.delete(work)
          waker.wake()
        })
      running.add(work)
    }
    return claimed.length
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let waitMs = POLL_INTERVAL_MS
      try {
        if ((await claim()) > 0) continue
        waitMs = Math.min(
          Math.max((await readNextCopyMs(sql)) ?? POLL_INTERVAL_MS, WAIT_MS_MIN),
          POLL_INTERVAL_MS,
        )
      } catch (error) {
        log.warn({ error }, 'copies wait for the database')
      }
      // With no free slot, what is due stays due: the end of a copy wakes.
      await waker.wait(running.size >= limits.slots ? POLL_INTERVAL_MS : waitMs)
    }
  }

  const loop = run()
  return {
    async stop() {
      stopping.abort()
      waker.wake()
      await loop
      await Promise.all(running)
      await (await listening)?.unlisten().catch(() => undefined)
    },
  }
}
