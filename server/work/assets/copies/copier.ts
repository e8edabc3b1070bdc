/**
 * Copies results of tasks into our storage, in the background: a task is settled and its webhook
 * queued before its copy starts.
 */
import { startClaimLoop } from '../../../base/database/claim-loop.ts'
import { ASSET_NOTIFICATIONS } from '../library/asset-store.ts'
import { type CopyContext, copyOne } from './copy-one.ts'
import { COPY_LIMITS, type CopyLimits } from './copy-schedule.ts'
import { claimCopies, readNextCopyMs } from './copy-store.ts'

export interface CopierOptions extends Omit<CopyContext, 'signal' | 'limits'> {
  readonly limits?: CopyLimits
}

export interface Copier {
  /** Aborts running copies and returns their claims to the queue. */
  stop(): Promise<void>
}

export function startCopier(options: CopierOptions): Copier {
  const { sql, log, blobs, limits = COPY_LIMITS } = options
  const stopping = new AbortController()
  const context = { ...options, limits, signal: stopping.signal }
  const loop = startClaimLoop({
    sql,
    log,
    name: 'copies',
    notifications: ASSET_NOTIFICATIONS,
    async claim(background, start, running) {
      const free = limits.slots - running
      if (free <= 0) return
      const claimedAtMs = performance.now()
      // Processes that keep files come first; this one tries what they leave, and reports why it
      // fails.
      const overdueMs = blobs.keepsFiles() ? 0 : limits.leftMs
      const claims = await claimCopies(background, {
        limit: free,
        leaseMs: limits.leaseMs,
        overdueMs,
      })
      for (const claim of claims) {
        start(copyOne({ ...claim, claimedAtMs }, context), { asset_id: claim.id })
      }
    },
    // Without a free slot, due copies wait: the end of a copy wakes the loop.
    readNextMs: async (background, running) =>
      running < limits.slots && blobs.keepsFiles() ? readNextCopyMs(background) : null,
  })
  return {
    async stop() {
      stopping.abort()
      await loop.stop()
      await loop.drain()
    },
  }
}
