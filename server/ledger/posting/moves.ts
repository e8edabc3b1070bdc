/**
 * Sends holds and settlements to the database: those of the same moment share one statement, its
 * locks and its commit. A settlement that fails here passes to `settlements`, which retries it
 * until it is committed; a hold is refused. An account locked by another transaction moves to a
 * queue of its own, so that it delays no other.
 */
import type { Sql } from 'postgres'
import { isLocked } from '../../database/unavailable.ts'
import { GatewayError } from '../../lib/errors.ts'
import { type Batches, createBatches, QueueFull } from '../../lib/queues/batcher.ts'
import { createSerialQueues, type Ran, type SerialQueues } from '../../lib/queues/serial-queues.ts'
import type { HoldRow, HoldVerdict, SettleRow, SettleVerdict } from '../store.ts'
import { closeHolds, findUnlocked, move, takeHolds, type Verdicts } from './move-store.ts'

const NONE_CLOSED: Promise<Verdicts<SettleVerdict>> = Promise.resolve(new Map())
const NONE_TAKEN: Promise<Verdicts<HoldVerdict>> = Promise.resolve(new Map())

/** Holds and settlements together. */
const BATCH_LIMIT = 1_000
/** A caller is refused after this time if the database does not respond. */
const HOLD_TIMEOUT_MS = 2_000
/** The database refuses a batch of holds that it reaches later than this after sending. */
const HOLD_DEADLINE_MS = 3_000
/** Locked accounts tried concurrently; bounded because they share the connection pool. */
const LANES_AT_ONCE = 2
/** Callers wait for their hold, so a locked account is retried soon. */
const LANE_PAUSE_MS_MAX = 400

export interface Moves {
  /**
   * Rejects with `QueueFull`, with `unavailable` after two seconds, or with the database's error.
   */
  take(row: HoldRow): Promise<HoldVerdict>
  /** Resolves when the settlement is committed. */
  close(row: SettleRow): Promise<SettleVerdict>
  /** Resolves when everything queued before is committed or handed over for retries. */
  flushed(): Promise<void>
  size(): number
}

interface Begun {
  readonly begun: HoldRow
  readonly sinceMs: number
  readonly resolve: (verdict: HoldVerdict) => void
  readonly reject: (error: unknown) => void
}

interface Ended {
  readonly ended: SettleRow
  readonly resolve: (verdict: SettleVerdict | Promise<SettleVerdict>) => void
}

type Item = Begun | Ended

interface Options {
  readonly sql: Sql
  readonly isUnavailable: (error: unknown) => boolean
  /** Takes over a settlement whose statement failed. */
  readonly repeat: (row: SettleRow) => Promise<SettleVerdict>
  /** Returns the estimated database time, if known. */
  readonly databaseNow: () => Date | undefined
  readonly holdQueueMax: number
  readonly settleQueueMax: number
}

export function createMoves(options: Options): Moves {
  return new BatchedMoves(options)
}

class BatchedMoves implements Moves {
  private readonly options: Options
  private readonly batches: Batches<Item>
  private readonly lanes: SerialQueues<Item>
  private waitingHolds = 0

  constructor(options: Options) {
    this.options = options
    this.batches = createBatches<Item>({
      run: (items) => this.run(items),
      batchLimit: BATCH_LIMIT,
      queueLimit: options.holdQueueMax + options.settleQueueMax,
    })
    this.lanes = createSerialQueues<Item>({
      run: (_account, items) => this.runAlone(items),
      atOnce: LANES_AT_ONCE,
      pauseMsMax: LANE_PAUSE_MS_MAX,
    })
  }

  take(begun: HoldRow): Promise<HoldVerdict> {
    if (this.waitingHolds >= this.options.holdQueueMax) {
      return Promise.reject(new QueueFull('queue is full'))
    }
    this.waitingHolds += 1
    const taken = new Promise<HoldVerdict>((resolve, reject) => {
      this.batches.push({ begun, sinceMs: performance.now(), resolve, reject })
    })
    return taken.finally(() => {
      this.waitingHolds -= 1
    })
  }

  close(ended: SettleRow): Promise<SettleVerdict> {
    return new Promise((resolve) => {
      this.batches.push({ ended, resolve })
    })
  }

  async flushed(): Promise<void> {
    await this.batches.flushed()
    await this.lanes.flushed()
  }

  size(): number {
    return this.batches.size() + this.lanes.size()
  }

  private async run(items: readonly Item[]): Promise<void> {
    const locked = await this.exchange(items.filter((item) => !this.divert(item)))
    if (locked.length > 0) await this.narrow(locked)
  }

  private divert(item: Item): boolean {
    const account = accountOf(item)
    if (!this.lanes.has(account)) return false
    this.lanes.push(account, item)
    return true
  }

  /** Sends one statement and resolves its items. Returns those blocked by a lock. */
  private async exchange(items: readonly Item[]): Promise<readonly Item[]> {
    if (items.length === 0) return []
    const ending = items.filter((item) => 'ended' in item)
    const beginning = items.filter((item) => 'begun' in item)
    const locked: Item[] = []
    let isOver = false
    const fail = (those: readonly Item[], error: unknown) => {
      if (isLocked(error) && !isOver) locked.push(...those)
      else this.giveUp(those, error)
    }
    const sent = send(
      this.options,
      ending.map((item) => item.ended),
      beginning.map((item) => item.begun),
    )
    const taken = withinTime(sent.taken).then(
      (verdicts) => {
        for (const { begun, resolve } of beginning) resolve(verdicts.get(begun.id) ?? 'no_account')
      },
      (error: unknown) => fail(beginning, error),
    )
    const closed = sent.closed.then(
      (verdicts) => {
        for (const { ended, resolve } of ending) resolve(verdicts.get(ended.hold_id) ?? 'unknown')
      },
      (error: unknown) => fail(ending, error),
    )
    await Promise.allSettled([taken, withinTime(closed)])
    isOver = true
    return locked
  }

  /** Moves locked accounts to queues of their own and sends the others again. */
  private async narrow(items: readonly Item[]): Promise<void> {
    const accounts = [...new Set(items.map(accountOf))]
    const free = await withinTime(findUnlocked(this.options.sql, accounts)).catch(() => undefined)
    if (!free) return this.giveUp(items, tooLate())
    const stopped = new Set(await this.exchange(items.filter((item) => free.has(accountOf(item)))))
    for (const item of items) {
      if (stopped.has(item) || !free.has(accountOf(item))) this.lanes.push(accountOf(item), item)
    }
  }

  private async runAlone(items: readonly Item[]): Promise<Ran<Item>> {
    const { overdue = [], inTime = [] } = Object.groupBy(items, (item) =>
      isOverdue(item) ? 'overdue' : 'inTime',
    )
    this.giveUp(overdue, tooLate())
    const locked = await this.exchange(inTime)
    // A hold is retried until its caller has waited long enough; a settlement is retried elsewhere
    // for as long as it takes.
    const { holds = [], endings = [] } = Object.groupBy(locked, (item) =>
      'begun' in item ? 'holds' : 'endings',
    )
    this.giveUp(endings, tooLate())
    return { left: holds, stays: locked.length > 0 || inTime.length === 0 }
  }

  /** Refuses holds and hands settlements over for retries. */
  private giveUp(items: readonly Item[], error: unknown): void {
    for (const item of items) {
      if ('begun' in item) item.reject(error)
      else item.resolve(this.options.repeat(item.ended))
    }
  }
}

function accountOf(item: Item): string {
  return 'begun' in item ? item.begun.account_id : (item.ended.account_id ?? '')
}

function isOverdue(item: Item): boolean {
  return 'begun' in item && performance.now() - item.sinceMs >= HOLD_TIMEOUT_MS
}

function tooLate(): GatewayError {
  return new GatewayError('unavailable', { retryAfterSeconds: 2 })
}

function send(
  { sql, isUnavailable, databaseNow }: Pick<Options, 'sql' | 'isUnavailable' | 'databaseNow'>,
  ended: readonly SettleRow[],
  begun: readonly HoldRow[],
) {
  const nowMs = databaseNow()?.getTime()
  const deadline = nowMs === undefined ? undefined : new Date(nowMs + HOLD_DEADLINE_MS)
  if (ended.length === 0) return { closed: NONE_CLOSED, taken: takeHolds(sql, begun, deadline) }
  if (begun.length === 0) return { closed: closeHolds(sql, ended), taken: NONE_TAKEN }
  const moved = move(sql, ended, begun, deadline)
  return {
    closed: moved.then((verdicts) => verdicts.closed),
    // A settlement that the database rejects must not fail the holds of others.
    taken: moved.then(
      (verdicts) => verdicts.taken,
      (error: unknown) => {
        if (isUnavailable(error)) throw error
        return takeHolds(sql, begun, deadline)
      },
    ),
  }
}

/** Stops waiting after the timeout; the statement itself continues in the database. */
function withinTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooLate()), HOLD_TIMEOUT_MS)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
