/**
 * Holds this process's lease and closes the calls of processes whose lease expired: charged up to
 * the last checkpoint, released if there is none. The closing statement decides which processes are
 * dead, see ledger_sweep: never this one, and none if the sweeping process could not reach the
 * database either.
 */
import type { Sql } from 'postgres'
import type { Log } from '../../../base/lib/log.ts'
import { formatAmount } from '../../../base/lib/money.ts'
import type { Continuity } from './continuity.ts'
import { type DatabaseClock, measureStep } from './lease-clock.ts'
import {
  countLiveOwners,
  dropOldLeases,
  endLease,
  endOtherLeases,
  type LeaseTimes,
  renewLease,
  sweepHolds,
} from './owner-store.ts'

export interface SweeperOptions {
  readonly sql: Sql
  readonly ownerId: string
  /** The address of this process, for operators who read the table. */
  readonly address: string
  /** True if no other process can be using this database. */
  readonly exclusive: boolean
  readonly renewMs: number
  readonly leaseSeconds: number
  /** Time without the database after which running calls are ended; see `onIsolated`. */
  readonly isolatedMs: number
  readonly clock?: DatabaseClock
  readonly continuity?: Continuity
  /**
   * Called at each failed renewal once the database has been unreachable for `isolatedMs`: running
   * calls might never be charged.
   */
  readonly onIsolated?: () => void
  /** Settles what dead processes left behind, before the rest of their calls is closed. */
  readonly beforeSweep?: () => Promise<void>
  readonly log: Pick<Log, 'info' | 'warn'>
}

export interface Sweeper {
  /** Returns the number of live processes at the last renewal; at least 1. */
  liveOwners(): number
  /** Renews the lease and samples the clock now, or waits for a renewal that is under way. */
  renew(): Promise<void>
  /** Closes abandoned holds now. Returns their number. */
  sweep(): Promise<number>
  stop(): Promise<void>
}

/** Delay before a failed renewal is retried. */
const RETRY_MS = 1_000
/** Time that a process has to end its own calls after `isolatedMs`. */
const END_CALLS_SECONDS = 60
const BATCH = 500
/** A clock that differs this much from the one of the last renewal was set, not corrected. */
const CLOCK_MS = 5_000
/** Old leases are deleted in one of this many sweeps. */
const DROP_EVERY = 60

/** Registers this process's lease and starts to renew it and to sweep. */
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
  /** The renewal under way: of two at once the earlier could arrive last. */
  private renewing: Promise<void> | undefined
  private isSweeping = false
  private failingSinceMs: number | undefined

  constructor(options: SweeperOptions) {
    const { leaseSeconds, isolatedMs } = options
    const quietSeconds = isolatedMs / 1_000 + END_CALLS_SECONDS
    this.options = options
    this.times = { leaseSeconds, patienceSeconds: leaseSeconds / 2, quietSeconds }
  }

  async start(): Promise<void> {
    const { sql, ownerId, exclusive, renewMs } = this.options
    await this.renew()
    if (exclusive) await endOtherLeases(sql, ownerId)
    // The delay covers processes that died just before this start.
    this.timers = [setInterval(this.turn, renewMs), setTimeout(this.turn, 1_200)]
    for (const timer of this.timers) timer.unref()
  }

  liveOwners = (): number => this.live

  async sweep(): Promise<number> {
    const { sql, ownerId, continuity, beforeSweep, log } = this.options
    // A database that lost acknowledged writes cannot tell which processes are alive.
    if (continuity?.broken() !== undefined) return 0
    await beforeSweep?.()
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
    if (this.sweeps++ % DROP_EVERY === 0) await dropOldLeases(sql)
    return all
  }

  async stop(): Promise<void> {
    this.stopped = true
    for (const timer of this.timers) clearInterval(timer)
    await endLease(this.options.sql, this.options.ownerId)
  }

  renew = (): Promise<void> => {
    this.renewing ??= this.renewOnce().finally(() => {
      this.renewing = undefined
    })
    return this.renewing
  }

  private async renewOnce(): Promise<void> {
    const { sql, ownerId, address, exclusive, clock, continuity } = this.options
    const sentMs = performance.now()
    const expected = clock?.now()
    const renewal = await renewLease(sql, { id: ownerId, address }, this.times)
    this.tellClock(renewal.at, expected, performance.now() - sentMs)
    clock?.sample(renewal.at, sentMs, performance.now())
    continuity?.compare(renewal)
    this.failingSinceMs = undefined
    this.live = exclusive ? 1 : await countLiveOwners(sql)
  }

  /** Reports to operators a clock that was set, or a process that did not run for a while. */
  private tellClock(at: Date, expected: Date | undefined, tookMs: number): void {
    const setMs = expected ? measureStep(at, expected, tookMs) : 0
    if (Math.abs(setMs) < CLOCK_MS) return
    const seconds = Math.round(setMs / 1_000)
    this.options.log.warn(
      { seconds },
      'the clock of the database moved against that of this process',
    )
  }

  /** Renews the lease, then sweeps. */
  private readonly turn = async (): Promise<void> => {
    if (this.stopped || this.renewing) return
    const renewed = await this.renew().then(
      () => true,
      (error: unknown) => this.onRenewalFailed(error),
    )
    if (!renewed || this.isSweeping || this.stopped) return
    this.isSweeping = true
    await this.sweep().catch((error: unknown) => {
      this.options.log.warn({ error }, 'sweeping failed, will retry')
    })
    this.isSweeping = false
  }

  private onRenewalFailed(error: unknown): false {
    const { log, isolatedMs, onIsolated } = this.options
    const nowMs = performance.now()
    this.failingSinceMs ??= nowMs
    log.warn({ error }, 'renewing the lease failed, will retry')
    if (nowMs - this.failingSinceMs >= isolatedMs) onIsolated?.()
    setTimeout(this.turn, RETRY_MS).unref()
    return false
  }
}
