/** Whether this process should take paid work now: database, clock, disk, and not stopping. */
import type { Log } from '../lib/log.ts'

const POLL_INTERVAL_MS = 2_000
/** Leases and expiry are judged by the database's clock; beyond this ours is not to be trusted. */
const SKEW_MS_MAX = 30_000

export interface Probes {
  /** Resolves with the clock difference in milliseconds; rejects while the database is away. */
  readonly database: () => Promise<{ readonly skewMs: number }>
  /** Resolves with a reason while there is too little space, else undefined. */
  readonly disk: () => Promise<string | undefined>
  /** Why the database cannot be worked with until the next start, or undefined. */
  readonly broken?: () => string | undefined
}

export interface Readiness {
  /** Why no traffic should come here, or undefined. */
  readonly reason: () => string | undefined
  /** Why no paid work is taken, or undefined; asked for every call, so it only remembers. */
  readonly refusesWork: () => string | undefined
  /** Looks now and from then on every two seconds; before the first look nothing is ready. */
  readonly begin: () => Promise<void>
  readonly stopping: () => void
  readonly stop: () => void
}

export function watchReadiness(probes: Probes, log: Log): Readiness {
  let database: string | undefined = 'starting'
  let disk: string | undefined
  let stopping = false

  async function look(): Promise<void> {
    const before = database ?? disk
    database = await probes.database().then(
      ({ skewMs }) =>
        Math.abs(skewMs) > SKEW_MS_MAX
          ? 'the clock differs from the database by over 30 seconds'
          : undefined,
      () => 'the database does not answer',
    )
    disk = await probes.disk().catch(() => undefined)
    const now = database ?? disk
    if (now === before) return
    if (now) log.error({ reason: now }, 'not ready')
    else log.info({}, 'ready')
  }

  const broken = () => probes.broken?.()
  let timer: NodeJS.Timeout | undefined
  return {
    // A database that is away is told by the call that needs it: it may be back already.
    refusesWork: () => (stopping ? 'stopping' : (broken() ?? disk)),
    reason: () => (stopping ? 'stopping' : (broken() ?? database ?? disk)),
    begin() {
      timer = setInterval(() => void look(), POLL_INTERVAL_MS)
      timer.unref()
      return look()
    },
    stopping: () => {
      stopping = true
    },
    stop: () => clearInterval(timer),
  }
}
