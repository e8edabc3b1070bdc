/**
 * Every process holds a lease while it lives; whoever notices that one ran out closes the calls
 * that died with it: charged up to the last checkpoint, released where there is none.
 */
import type { Sql } from 'postgres'
import { closeHolds } from './move-store.ts'
import {
  countLiveOwners,
  dropExpired,
  endLease,
  endOtherLeases,
  findOrphanedHolds,
  forgetAnswers,
  type OrphanedHold,
  renewLease,
  type SettleRow,
} from './store.ts'

export interface SweeperOptions {
  readonly sql: Sql
  readonly ownerId: string
  /** Where this process can be found, for people who read the table. */
  readonly address: string
  /** True when no other process can be alive on this database. */
  readonly sole: boolean
  readonly renewMs?: number
  readonly leaseSeconds?: number
  readonly sweepMs?: number
  readonly log: {
    info(fields: object, message: string): void
    warn(fields: object, message: string): void
  }
}

export interface Sweeper {
  /** Live processes on this database at the last look; at least 1. */
  liveOwners(): number
  /** Closes orphaned holds now. Returns how many. */
  sweep(): Promise<number>
  stop(): Promise<void>
}

const RENEW_MS = 5_000
const LEASE_SECONDS = 20
const SWEEP_MS = 5_000
const BATCH = 500
/** Expired rows are dropped once in this many sweeps. */
const DROP_EVERY = 60

/** Registers this process's lease and starts to renew it and to sweep after others. */
export async function startSweeper(options: SweeperOptions): Promise<Sweeper> {
  const { sql, ownerId, log } = options
  const lease = {
    id: ownerId,
    address: options.address,
    leaseSeconds: options.leaseSeconds ?? LEASE_SECONDS,
  }
  let live = 1
  let sweeps = 0
  let stopped = false

  await renewLease(sql, lease)
  if (options.sole) await endOtherLeases(sql, ownerId)

  async function renew(): Promise<void> {
    await renewLease(sql, lease)
    live = options.sole ? 1 : await countLiveOwners(sql)
  }

  async function sweep(): Promise<number> {
    let closed = 0
    for (;;) {
      const orphans = await findOrphanedHolds(sql, BATCH)
      if (orphans.length === 0) break
      await closeHolds(sql, orphans.map(toSettleRow))
      await forgetAnswers(
        sql,
        orphans.map((orphan) => orphan.id),
      )
      closed += orphans.length
    }
    if (closed > 0) log.warn({ closed }, 'closed the holds of calls whose process died')
    if (sweeps++ % DROP_EVERY === 0) await dropExpired(sql)
    return closed
  }

  const quietly = (work: () => Promise<unknown>, what: string) => () => {
    if (stopped) return
    work().catch((error: unknown) => log.warn({ error }, `${what} failed, will be repeated`))
  }
  const timers = [
    setInterval(quietly(renew, 'renewing the lease'), options.renewMs ?? RENEW_MS),
    setInterval(quietly(sweep, 'sweeping'), options.sweepMs ?? SWEEP_MS),
    // What died just before this start is over a second old by then.
    setTimeout(quietly(sweep, 'sweeping'), 1_200),
  ]
  for (const timer of timers) timer.unref()

  return {
    liveOwners: () => live,
    sweep,
    async stop() {
      stopped = true
      for (const timer of timers) clearInterval(timer)
      await endLease(sql, ownerId)
    },
  }
}

/** Never more than the hold: nobody is left who could know about an overrun. */
function toSettleRow(orphan: OrphanedHold): SettleRow {
  const owed = orphan.checkpoint ? BigInt(orphan.checkpoint.charge) : null
  const charge = owed !== null && owed > orphan.amount ? orphan.amount : owed
  return {
    hold_id: orphan.id,
    charge: charge?.toString() ?? null,
    status: 'lost',
    basis: charge === null ? 'none' : 'checkpoint',
    review: false,
    lines: orphan.checkpoint?.lines ?? [],
    attempts: orphan.checkpoint?.attempts ?? [],
    cost: orphan.checkpoint?.cost ?? null,
    cost_version: orphan.checkpoint?.cost_version ?? null,
    error: 'the process that served this call ended before the call did',
    task_id: null,
    answer: null,
  }
}
