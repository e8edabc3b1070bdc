/**
 * Sends what is due: claims as much as there are free slots, waits for a notification, for a slot
 * or for the next due time, and claims again. Any number of processes may do so side by side.
 */
import type { Sql } from 'postgres'
import type { Log } from '../lib/log.ts'
import { createWaker } from '../lib/queues/waker.ts'
import type { SecretBox } from '../lib/secrets/secrets.ts'
import type { Guard } from '../outbound/guard.ts'
import { deliverOne } from './deliver-one.ts'
import { claimDueDeliveries, readNextDeliveryMs } from './queue-store.ts'
import { DELAYS_MS, SENDING_LIMITS, type SendingLimits } from './schedule.ts'
import { DELIVERY_NOTIFICATIONS } from './store.ts'

export interface SenderOptions {
  readonly sql: Sql
  readonly secrets: SecretBox
  readonly guard: Guard
  readonly log: Log
  readonly limits?: SendingLimits
  /** The waits between attempts. */
  readonly delaysMs?: readonly number[]
  /** Replaces the database's clock in tests; `pace` is how much faster it runs than ours. */
  readonly clock?: { now(): Date; readonly pace: number }
}

export interface Sender {
  /** Attempts under way. */
  size(): number
  /** Claims no more, gives attempts under way `drainMs`, then cuts them. */
  stop(drainMs?: number): Promise<void>
}

/** Notifications can be lost: nothing waits longer for a look than this. */
const POLL_INTERVAL_MS = 1_000
const TROUBLE_PAUSE_MS = 1_000

export function startSender(options: SenderOptions): Sender {
  const { sql, log, limits = SENDING_LIMITS, delaysMs = DELAYS_MS, clock } = options
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  const cutting = new AbortController()
  const waker = createWaker()
  const now = () => clock?.now() ?? null
  const context = { ...options, limits, delaysMs, now, signal: cutting.signal }
  const listening = sql
    .listen(DELIVERY_NOTIFICATIONS, waker.wake, waker.wake)
    .catch((error) => void log.warn({ error }, 'no notifications of deliveries: polling only'))

  async function claim(): Promise<number> {
    const free = limits.slots - running.size
    if (free <= 0) return 0
    const claimed = await claimDueDeliveries(sql, { limits, free, delaysMs, now: now() })
    for (const one of claimed) {
      const work = deliverOne(one, context)
        .catch((error) => log.error({ error, delivery_id: one.id }, 'an attempt was not recorded'))
        .finally(() => {
          running.delete(work)
          waker.wake()
        })
      running.add(work)
    }
    return claimed.length
  }

  async function waitMs(): Promise<number> {
    const dueMs = await readNextDeliveryMs(sql, now())
    return dueMs === null
      ? POLL_INTERVAL_MS
      : Math.min(POLL_INTERVAL_MS, Math.ceil(dueMs / (clock?.pace ?? 1)))
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if ((await claim()) === 0) await waker.wait(await waitMs())
      } catch (error) {
        log.warn({ error }, 'deliveries cannot be claimed, will be tried again')
        await waker.wait(TROUBLE_PAUSE_MS)
      }
    }
  }

  const loop = run()
  return {
    size: () => running.size,
    async stop(drainMs = limits.budgetMs) {
      stopping.abort()
      waker.wake()
      await loop
      const timer = setTimeout(() => cutting.abort(), drainMs)
      await Promise.all(running)
      clearTimeout(timer)
      await (await listening)?.unlisten().catch(() => undefined)
    },
  }
}
