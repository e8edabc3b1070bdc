/** Sends due deliveries, within limits per process, per host and per account. */
import type { Sql } from 'postgres'
import { startClaimLoop } from '../../base/database/claim-loop.ts'
import type { Log } from '../../base/lib/log.ts'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import type { Guard } from '../../base/outbound/guard.ts'
import { deliverOne } from './deliver-one.ts'
import { claimDueDeliveries, readNextDeliveryMs } from './queue-store.ts'
import { type OnAttempt, reportDeliveryAttempt } from './report-attempt.ts'
import { DELAYS_MS, SENDING_LIMITS, type SendingLimits } from './schedule.ts'
import { DELIVERY_NOTIFICATIONS } from './store.ts'

export interface SenderOptions {
  readonly sql: Sql
  readonly secrets: SecretBox
  readonly guard: Guard
  readonly log: Log
  readonly limits?: SendingLimits
  /** Counts each attempt by its outcome. */
  readonly onAttempt?: OnAttempt
  /** Delays between attempts. */
  readonly delaysMs?: readonly number[]
  /** Replaces the database's clock in tests; `pace` is its speed relative to real time. */
  readonly clock?: { now(): Date; readonly pace: number }
}

/** An attempt of another process, which died or could not record the outcome. */
const LOST = {
  outcome: 'lost',
  status: null,
  error: 'the gateway ended before the outcome',
} as const

export interface Sender {
  /** Returns the number of running attempts. */
  size(): number
  /** Stops claiming, lets running attempts finish within `drainMs`, then aborts them. */
  stop(drainMs?: number): Promise<void>
}

export function startSender(options: SenderOptions): Sender {
  const { sql, log, limits = SENDING_LIMITS, delaysMs = DELAYS_MS, clock } = options
  const { onAttempt = () => undefined } = options
  const stopping = new AbortController()
  const now = () => clock?.now() ?? null
  const context = { ...options, onAttempt, limits, delaysMs, now, signal: stopping.signal }
  const loop = startClaimLoop({
    sql,
    log,
    name: 'deliveries',
    notifications: DELIVERY_NOTIFICATIONS,
    async claim(background, start, running) {
      const freeSlots = limits.slots - running
      if (freeSlots <= 0) return
      const options = { limits, freeSlots, delaysMs, now: now() }
      const { claimed, lost } = await claimDueDeliveries(background, options)
      for (const row of lost) reportDeliveryAttempt(row, { ...row, ...LOST }, context)
      for (const row of claimed) start(deliverOne(row, context), { delivery_id: row.id })
    },
    async readNextMs(background, running) {
      // Without a free slot, due deliveries wait: the end of an attempt wakes the loop.
      const dueMs = running < limits.slots ? await readNextDeliveryMs(background, now()) : null
      return dueMs === null ? null : dueMs / (clock?.pace ?? 1)
    },
  })
  return {
    size: loop.size,
    async stop(drainMs = limits.budgetMs) {
      await loop.stop()
      const timer = setTimeout(() => stopping.abort(), drainMs)
      await loop.drain()
      clearTimeout(timer)
    },
  }
}
