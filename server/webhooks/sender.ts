/** Sends due deliveries: so many at once, by this process, to one host and for one account. */
import type { Sql } from 'postgres'
import { startClaimLoop } from '../database/claim-loop.ts'
import type { Log } from '../lib/log.ts'
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

export function startSender(options: SenderOptions): Sender {
  const { sql, log, limits = SENDING_LIMITS, delaysMs = DELAYS_MS, clock } = options
  const cutting = new AbortController()
  const now = () => clock?.now() ?? null
  const context = { ...options, limits, delaysMs, now, signal: cutting.signal }
  const loop = startClaimLoop({
    sql,
    log,
    name: 'deliveries',
    notifications: DELIVERY_NOTIFICATIONS,
    async claim(start, running) {
      const free = limits.slots - running
      if (free <= 0) return
      const claimed = await claimDueDeliveries(sql, { limits, free, delaysMs, now: now() })
      for (const one of claimed) start(deliverOne(one, context), { delivery_id: one.id })
    },
    async readNextMs(running) {
      // With no free slot, what is due stays due: the end of a delivery wakes.
      const dueMs = running < limits.slots ? await readNextDeliveryMs(sql, now()) : null
      return dueMs === null ? null : dueMs / (clock?.pace ?? 1)
    },
  })
  return {
    size: loop.size,
    async stop(drainMs = limits.budgetMs) {
      await loop.stop()
      const timer = setTimeout(() => cutting.abort(), drainMs)
      await loop.drain()
      clearTimeout(timer)
    },
  }
}
