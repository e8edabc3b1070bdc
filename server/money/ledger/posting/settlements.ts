/**
 * Commits settlements: batched, and retried until they succeed. During a database outage they wait
 * in memory; if the process dies with them, the sweeper closes their holds from the last
 * checkpoint. An account locked by another transaction waits in a queue of its own.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { isLocked } from '../../../base/database/unavailable.ts'
import type { Log } from '../../../base/lib/log.ts'
import { type Batches, createBatches } from '../../../base/lib/queues/batcher.ts'
import {
  createSerialQueues,
  type QueueRun,
  type SerialQueues,
} from '../../../base/lib/queues/serial-queues.ts'
import type { SettleRow, SettleVerdict } from '../store.ts'
import { closeHolds, findUnlocked } from './move-store.ts'

const BATCH_LIMIT = 500
const RETRY_MS_MIN = 100
const RETRY_MS_MAX = 1_000
/** Locked accounts tried concurrently. */
const LOCKED_AT_ONCE = 2

export type SettlementLog = Pick<Log, 'warn' | 'error'>

export interface Settlements {
  /** Resolves when the settlement is committed. */
  add(row: SettleRow): Promise<SettleVerdict>
  /** Resolves when everything added before this call is committed. */
  flushed(): Promise<void>
  size(): number
}

interface Waiting {
  readonly row: SettleRow
  readonly resolve: (verdict: SettleVerdict) => void
}

interface NotClosed {
  /** The database refuses them, even without their details, or their account is locked. */
  readonly refused: readonly Waiting[]
  /** The database was not available for them. */
  readonly waiting: readonly Waiting[]
}

interface Options {
  readonly sql: Sql
  readonly isUnavailable: (error: unknown) => boolean
  readonly log: SettlementLog
  readonly settleQueueMax: number
}

/**
 * `isUnavailable` distinguishes an unreachable database from a rejected statement: the former is
 * retried; the latter is narrowed down to the failing row, which is closed without its details.
 */
export function createSettlements(options: Options): Settlements {
  return new RepeatedSettlements(options)
}

class RepeatedSettlements implements Settlements {
  private readonly options: Options
  private readonly batches: Batches<Waiting>
  private readonly lockedAccounts: SerialQueues<Waiting>

  constructor(options: Options) {
    this.options = options
    this.batches = createBatches<Waiting>({
      run: (items) => this.run(items).then(() => undefined),
      batchLimit: BATCH_LIMIT,
      queueLimit: options.settleQueueMax,
    })
    this.lockedAccounts = createSerialQueues<Waiting>({
      run: (_account, items) => this.runAlone(items),
      atOnce: LOCKED_AT_ONCE,
    })
  }

  add = (row: SettleRow): Promise<SettleVerdict> =>
    new Promise((resolve) => {
      const item = { row, resolve }
      if (this.lockedAccounts.has(accountOf(item))) this.lockedAccounts.push(accountOf(item), item)
      else this.batches.push(item)
    })

  async flushed(): Promise<void> {
    await this.batches.flushed()
    await this.lockedAccounts.flushed()
  }

  size(): number {
    return this.batches.size() + this.lockedAccounts.size()
  }

  private async close(items: readonly Waiting[]): Promise<void> {
    const rows = items.map(({ row }) => row)
    const verdicts = await closeHolds(this.options.sql, rows)
    for (const { row, resolve } of items) resolve(verdicts.get(row.hold_id) ?? 'unknown')
  }

  /** Closes items one at a time; those of locked accounts count as refused. */
  private async closeOneByOne(items: readonly Waiting[]): Promise<NotClosed> {
    const refused: Waiting[] = []
    const locked = new Set<string>()
    for (const [index, item] of items.entries()) {
      try {
        if (locked.has(accountOf(item))) refused.push(item)
        else await this.close([item]).catch((error: unknown) => this.closeBare(item, error))
      } catch (error) {
        if (isLocked(error)) locked.add(accountOf(item))
        else if (this.options.isUnavailable(error)) return { refused, waiting: items.slice(index) }
        refused.push(item)
      }
    }
    return { refused, waiting: [] }
  }

  private closeBare(item: Waiting, error: unknown): Promise<void> {
    const { isUnavailable, log } = this.options
    const { row } = item
    if (isUnavailable(error)) throw error
    log.error({ hold_id: row.hold_id, error }, 'settlement refused: closing without details')
    const bare = { lines: [], attempts: [], error: null, answer: null, review: true }
    return this.close([
      { ...item, row: { ...row, ...bare, upstream_cost: null, upstream_cost_version: null } },
    ])
  }

  /** Moves locked accounts to queues of their own; returns the others. */
  private async divertLocked(items: readonly Waiting[]): Promise<readonly Waiting[]> {
    const accounts = [...new Set(items.map(accountOf))]
    const free = await findUnlocked(this.options.sql, accounts).catch(() => undefined)
    if (!free) return items
    const others: Waiting[] = []
    for (const item of items) {
      if (accountOf(item) === '' || free.has(accountOf(item))) others.push(item)
      else this.lockedAccounts.push(accountOf(item), item)
    }
    return others
  }

  /**
   * Moves settlements that are refused even without details to their account's queue; returns the
   * others.
   */
  private async closeOthers(items: readonly Waiting[]): Promise<readonly Waiting[]> {
    const { refused, waiting } = await this.closeOneByOne(items)
    for (const item of refused) this.lockedAccounts.push(accountOf(item), item)
    return waiting
  }

  private async run(items: readonly Waiting[]): Promise<void> {
    const { isUnavailable, log } = this.options
    let remaining = items
    for (let waitMs = RETRY_MS_MIN; ; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
      try {
        await this.close(remaining)
        return
      } catch (error) {
        if (isLocked(error)) remaining = await this.divertLocked(remaining)
        else if (!isUnavailable(error)) remaining = await this.closeOthers(remaining)
        if (remaining.length === 0) return
        log.warn({ waiting: remaining.length, error }, 'settlements wait for the database')
        await sleep(waitMs)
      }
    }
  }

  private async runAlone(items: readonly Waiting[]): Promise<QueueRun<Waiting>> {
    try {
      await this.close(items)
      return { remaining: [], stays: false }
    } catch (error) {
      const { isUnavailable, log } = this.options
      const all = { refused: [], waiting: items }
      const { refused, waiting } = isUnavailable(error) ? all : await this.closeOneByOne(items)
      const remaining = [...refused, ...waiting]
      if (remaining.length > 0)
        log.warn({ waiting: remaining.length, error }, 'settlements wait for a lock')
      return { remaining, stays: remaining.length > 0 }
    }
  }
}

function accountOf({ row }: Waiting): string {
  return row.account_id ?? ''
}
