/**
 * Every process holds a lease while it lives; whoever notices that one ran out closes the calls
 * that died with it: charged up to the last checkpoint, released where there is none. The statement
 * that closes decides who is dead, see ledger_sweep: never this process itself, and nobody on the
 * word of a process that could not reach the database either.
 */
import type { Sql } from 'postgres'
import type { Log } from '../../lib/log.ts'
import { formatAmount } from '../../lib/money.ts'
import type { Continuity } from './continuity.ts'
import type { DatabaseClock } from './lease-clock.ts'
import {
  countLiveOwners,
  dropExpired,
  endLease,
  endOtherLeases,
  type LeaseTimes,
  renewLease,
  sweepHolds,
} from './owner-store.ts'

export interface SweeperOptions {
  readonly sql: Sql
  readonly ownerId: string
  /** Where this process can be found, for people who read the table. */
  readonly address: string
  /** True when no other process can be alive on this database. */
  readonly sole: boolean
  readonly renewMs: number
  readonly leaseSeconds: number
  /** After this long without the database running calls are ended; see `onAdrift`. */
  readonly adriftMs: number
  readonly clock?: DatabaseClock
  readonly continuity?: Continuity
  /**
   * The database has not been reached for so long that nobody knows whether what runs here will
   * ever be charged. Called at each failed renewal from then on.
   */
  readonly onAdrift?: () => void
  readonly log: Pick<Log, 'info' | 'warn'>
}

export interface Sweeper {
  /** Live processes on this database at the last renewal; at least 1. */
  liveOwners(): number
  /** Closes orphaned holds now. Returns how many. */
  sweep(): Promise<number>
  stop(): Promise<void>
}

/** A renewal that failed is tried again so soon. */
const RETRY_MS = 1_000
/** Once it has ended its calls by itself, a process is given this long to be through with it. */
const THROUGH_SECONDS = 60
const BATCH = 500
/** Expired rows are dropped once in this many sweeps. */
const DROP_EVERY = 60

/** Registers this process's lease and starts to renew it and to sweep after others. */
export async function startSweeper(options: SweeperOptions): Promise<Sweeper> {
  const sweeper = new LeasedSweeper(options)
  await sweeper.start()
  return sweeper
}

class LeasedSweeper implements Sweeper {
  private readonly options: SweeperOptions
  private readonly times: LeaseTimes
  private timers: NodeJS.Timeout[] = []
  private live = 1
  private sweeps = 0
  private stopped = false
  private isRenewing = false
  private isSweeping = false
  private failingSinceMs: number | undefined

  constructor(options: SweeperOptions) {
    const { leaseSeconds, adriftMs } = options
    const quietSeconds = adriftMs / 1_000 + THROUGH_SECONDS
    this.options = options
    this.times = { leaseSeconds, patienceSeconds: leaseSeconds / 2, quietSeconds }
  }

  async start(): Promise<void> {
    const { sql, ownerId, sole, renewMs } = this.options
    await this.renew()
    if (sole) await endOtherLeases(sql, ownerId)
    // What died just before this start is over a second old by the first turn.
    this.timers = [setInterval(this.turn, renewMs), setTimeout(this.turn, 1_200)]
    for (const timer of this.timers) timer.unref()
  }

  liveOwners = (): number => this.live

  async sweep(): Promise<number> {
    const { sql, ownerId, continuity, log } = this.options
    // A database that lacks what it acknowledged says nothing about who is alive.
    if (continuity?.broken() !== undefined) return 0
    let all = 0
    let chargedNanos = 0n
    for (let closed = BATCH; closed >= BATCH; all += closed) {
      const swept = await sweepHolds(sql, ownerId, this.times, BATCH)
      closed = swept.closed
      chargedNanos += swept.chargedNanos
    }
    if (all > 0) {
      const charged = formatAmount(chargedNanos)
      log.warn({ closed: all, charged }, 'closed the holds of calls whose process died')
    }
    if (this.sweeps++ % DROP_EVERY === 0) await dropExpired(sql)
    return all
  }

  async stop(): Promise<void> {
    this.stopped = true
    for (const timer of this.timers) clearInterval(timer)
    await endLease(this.options.sql, this.options.ownerId)
  }

  private async renew(): Promise<void> {
    const { sql, ownerId, address, sole, clock, continuity } = this.options
    const askedMs = performance.now()
    const renewal = await renewLease(sql, { id: ownerId, address }, this.times)
    clock?.note(renewal.at, askedMs, performance.now())
    continuity?.see(renewal)
    this.failingSinceMs = undefined
    this.live = sole ? 1 : await countLiveOwners(sql)
  }

  /** First the sign of our own life, then what others have left behind. */
  private readonly turn = async (): Promise<void> => {
    if (this.stopped || this.isRenewing) return
    this.isRenewing = true
    const renewed = await this.renew().then(
      () => true,
      (error: unknown) => this.onSilence(error),
    )
    this.isRenewing = false
    if (!renewed || this.isSweeping || this.stopped) return
    this.isSweeping = true
    await this.sweep().catch((error: unknown) => {
      this.options.log.warn({ error }, 'sweeping failed, will be repeated')
    })
    this.isSweeping = false
  }

  private onSilence(error: unknown): false {
    const { log, adriftMs, onAdrift } = this.options
    const nowMs = performance.now()
    this.failingSinceMs ??= nowMs
    log.warn({ error }, 'renewing the lease failed, will be repeated')
    if (nowMs - this.failingSinceMs >= adriftMs) onAdrift?.()
    setTimeout(this.turn, RETRY_MS).unref()
    return false
  }
}
