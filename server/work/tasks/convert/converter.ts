/** Converts recordings, at most `slots` at once. */
import { startClaimLoop } from '../../../base/database/claim-loop.ts'
import type { Engine } from '../engine.ts'
import {
  type ClaimedConversion,
  claimConversions,
  readNextConversionMs,
  renewConversion,
} from './conversion-store.ts'
import { convertTask } from './convert-task.ts'

const NOTIFICATIONS = 'tributary_conversion'

export interface Converter {
  /** Stops claiming, and hands running conversions over to other workers. */
  stop(): Promise<void>
}

/** Returns undefined if this gateway cannot convert. */
export function startConverter(engine: Engine, slots: number): Converter | undefined {
  const { sql, services, ports, times } = engine
  if (!ports.convertSound) return undefined
  const stopping = new AbortController()
  /** The vendor may fetch the converted sound from any gateway, so the storage must be shared. */
  const mayConvert = ports.keepsFiles

  async function run(claim: ClaimedConversion): Promise<void> {
    // Has no effect once the task has been submitted, since the row is gone.
    const timer = setInterval(() => {
      renewConversion(sql, claim, times.leaseMs).catch(() => undefined)
    }, times.leaseMs / 3)
    try {
      await convertTask(engine, claim, stopping.signal)
    } finally {
      clearInterval(timer)
    }
  }

  const loop = startClaimLoop({
    sql,
    log: services.log,
    name: 'conversions',
    notifications: NOTIFICATIONS,
    async claim(background, start, running) {
      if (stopping.signal.aborted || running >= slots || !mayConvert()) return
      const claims = await claimConversions(background, slots - running, times.leaseMs)
      for (const claim of claims) start(run(claim), { task_id: claim.task_id })
    },
    readNextMs: async (background, running) =>
      running < slots && mayConvert() ? readNextConversionMs(background) : null,
  })
  return {
    async stop() {
      const stopped = loop.stop()
      stopping.abort()
      await stopped
      await loop.drain()
    },
  }
}
