/**
 * Copies what tasks made into our storage. Nobody waits for it: a task is settled and its webhook
 * queued before its copy.
 */
import { startClaimLoop } from '../../database/claim-loop.ts'
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

export function startCopier(options: CopierOptions): Copier {
  const { sql, log, limits = COPY_LIMITS } = options
  const stopping = new AbortController()
  const context = { ...options, limits, signal: stopping.signal }
  const loop = startClaimLoop({
    sql,
    log,
    name: 'copies',
    notifications: ASSET_NOTIFICATIONS,
    async claim(start, running) {
      const free = limits.slots - running
      if (free <= 0) return
      const claimed = await claimCopies(sql, free, limits.leaseMs)
      for (const one of claimed) start(copyOne(one, context), { asset_id: one.id })
    },
    // With no free slot, what is due stays due: the end of a copy wakes.
    readNextMs: async (running) => (running < limits.slots ? readNextCopyMs(sql) : null),
  })
  return {
    async stop() {
      stopping.abort()
      await loop.stop()
      await loop.drain()
    },
  }
}
