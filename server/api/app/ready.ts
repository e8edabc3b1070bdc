/** Readiness of this process for paid work: database, clock, disk, and not stopping. */
import type { Log } from '../../base/lib/log.ts'

const POLL_INTERVAL_MS = 2_000
/** The limit of the clock difference: leases and expiry are judged by the database's clock. */
const SKEW_MS_MAX = 30_000

export interface Probes {
  /**
   * Resolves with the clock difference in milliseconds, and why the server must not be used, if it
   * must not; rejects while the database is unavailable.
   */
  readonly database: () => Promise<{
    readonly skewMs: number
    readonly refusal?: string | undefined
  }>
  /** Resolves with a reason once the schema is too new for this version. */
  readonly schema?: () => Promise<string | undefined>
  /** Resolves with a reason while there is too little space, else undefined. */
  readonly disk: () => Promise<string | undefined>
  /** Resolves with a reason while the data folder cannot be written to, else undefined. */
  readonly folder?: () => Promise<string | undefined>
  /** Returns a reason while this process lacks a key or variable that its channels need. */
  readonly channels?: () => string | undefined
  /** Returns why the database cannot be used until the next start, or undefined. */
  readonly broken?: () => string | undefined
}

export interface Readiness {
  /** Returns why this process must not get traffic, or undefined. */
  readonly reason: () => string | undefined
  /**
   * Returns why paid work is refused, or undefined. Called for every call, so it only reads the
   * last result.
   */
  readonly refusesWork: () => string | undefined
  /** Checks now, and then every two seconds; not ready before the first check. */
  readonly begin: () => Promise<void>
  /** Not ready from now on, while calls are still served. */
  readonly stopping: () => void
  /** Refuses paid work from now on. */
  readonly refuseWork: () => void
  readonly stop: () => void
}

export function watchReadiness(probes: Probes, log: Log): Readiness {
  let database: string | undefined = 'starting'
  let disk: string | undefined
  let folder: string | undefined
  let last: string | undefined = database
  let stopping = false
  let refusing = false

  async function check(): Promise<void> {
    const before = last
    database = await probes.database().then(
      ({ skewMs, refusal }) =>
        Math.abs(skewMs) > SKEW_MS_MAX
          ? 'the clock differs from the database by over 30 seconds'
          : refusal,
      () => 'the database does not answer',
    )
    database ??= await probes.schema?.().catch(() => undefined)
    disk = await probes.disk().catch(() => undefined)
    folder = await probes.folder?.().catch(() => undefined)
    const now = database ?? disk ?? folder ?? probes.channels?.()
    last = now
    if (now === before) return
    if (now) log.error({ reason: now }, 'not ready')
    else log.info({}, 'ready')
  }

  const broken = () => probes.broken?.()
  let timer: NodeJS.Timeout | undefined
  return {
    // An unavailable database is reported by the call that needs it, since it may already be back.
    refusesWork: () => (refusing ? 'stopping' : (broken() ?? disk)),
    reason: () =>
      stopping ? 'stopping' : (broken() ?? database ?? disk ?? folder ?? probes.channels?.()),
    begin() {
      timer = setInterval(() => void check(), POLL_INTERVAL_MS)
      timer.unref()
      return check()
    },
    stopping: () => {
      stopping = true
    },
    refuseWork: () => {
      refusing = true
    },
    stop: () => clearInterval(timer),
  }
}
