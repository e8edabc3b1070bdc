/**
 * Sends holds and settlements to the database: those of the same moment share one statement, its
 * locks and its commit. A settlement that fails here passes to `settlements`, which retries it
 * until it is committed; a hold is refused. An account locked by another transaction moves to a
 * queue of its own, so that it delays no other.
 */
import type { Sql } from 'postgres'
import { isLocked } from '../../../base/database/unavailable.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import {
  type AnswerBatch,
  type Batches,
  createBatches,
  QueueFull,
} from '../../../base/lib/queues/batcher.ts'
import {
  createSerialQueues,
  type QueueRun,
  type SerialQueues,
} from '../../../base/lib/queues/serial-queues.ts'
import { withinTime } from '../../../base/lib/queues/within-time.ts'
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
const LOCKED_AT_ONCE = 2
/** Callers wait for their hold, so a locked account is retried soon. */
const LOCKED_PAUSE_MS_MAX = 400

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

interface QueuedHold {
  readonly hold: HoldRow
  readonly sinceMs: number
  readonly resolve: (verdict: HoldVerdict) => void
  readonly reject: (error: unknown) => void
}

interface QueuedSettlement {
  readonly settlement: SettleRow
  readonly resolve: (verdict: SettleVerdict | Promise<SettleVerdict>) => void
}

type Item = QueuedHold | QueuedSettlement

interface Exchanged {
  readonly locked: readonly Item[]
  readonly answer: AnswerBatch
}

const NOTHING_EXCHANGED: Exchanged = { locked: [], answer: () => undefined }

interface Options {
  readonly sql: Sql
  readonly isUnavailable: (error: unknown) => boolean
  /** Retries a settlement whose statement failed. */
  readonly retry: (row: SettleRow) => Promise<SettleVerdict>
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
  private readonly lockedAccounts: SerialQueues<Item>
  private waitingHolds = 0

  constructor(options: Options) {
    this.options = options
    this.batches = createBatches<Item>({
      run: (items) => this.run(items),
      batchLimit: BATCH_LIMIT,
      queueLimit: options.holdQueueMax + options.settleQueueMax,
    })
    this.lockedAccounts = createSerialQueues<Item>({
      run: (_account, items) => this.runAlone(items),
      atOnce: LOCKED_AT_ONCE,
      pauseMsMax: LOCKED_PAUSE_MS_MAX,
    })
  }

  take(hold: HoldRow): Promise<HoldVerdict> {
    if (this.waitingHolds >= this.options.holdQueueMax) {
      return Promise.reject(new QueueFull('queue is full'))
    }
    return new Promise((resolve, reject) => {
      this.batches.push({ hold, sinceMs: performance.now(), resolve, reject })
      this.waitingHolds += 1
    })
  }

  close(settlement: SettleRow): Promise<SettleVerdict> {
    return new Promise((resolve) => {
      this.batches.push({ settlement, resolve })
    })
  }

  async flushed(): Promise<void> {
    await this.batches.flushed()
    await this.lockedAccounts.flushed()
  }

  size(): number {
    return this.batches.size() + this.lockedAccounts.size()
  }

  private async run(items: readonly Item[]): Promise<AnswerBatch | undefined> {
    const { locked, answer } = await this.exchange(items.filter((item) => !this.divert(item)))
    if (locked.length === 0) return answer
    answer()
    await this.narrow(locked)
    return undefined
  }

  /** Moves an item of a locked account to its queue. */
  private divert(item: Item): boolean {
    const account = accountOf(item)
    if (!this.lockedAccounts.has(account)) return false
    this.lockedAccounts.push(account, item)
    return true
  }

  /** Sends one statement. Returns what resolves its items, without those blocked by a lock. */
  private async exchange(items: readonly Item[]): Promise<Exchanged> {
    if (items.length === 0) return NOTHING_EXCHANGED
    const settlements = items.filter((item) => 'settlement' in item)
    const holds = items.filter((item) => 'hold' in item)
    const locked: Item[] = []
    const answers: AnswerBatch[] = []
    let isReturned = false
    const answer = () => {
      for (const one of answers) one()
    }
    const keep = (one: AnswerBatch) => void (isReturned ? one() : answers.push(one))
    const fail = (failed: readonly Item[], error: unknown) => {
      if (isLocked(error) && !isReturned) locked.push(...failed)
      else this.giveUp(failed, error)
    }
    const sent = send(
      this.options,
      settlements.map((item) => item.settlement),
      holds.map((item) => item.hold),
    )
    const taken = inTime(sent.taken).then(
      (verdicts) => {
        this.waitingHolds -= holds.length
        keep(() => {
          for (const { hold, resolve } of holds) resolve(verdicts.get(hold.id) ?? 'no_account')
        })
      },
      (error: unknown) => fail(holds, error),
    )
    const closed = sent.closed.then(
      (verdicts) => {
        keep(() => {
          for (const { settlement, resolve } of settlements) {
            resolve(verdicts.get(settlement.hold_id) ?? 'unknown')
          }
        })
      },
      (error: unknown) => fail(settlements, error),
    )
    await Promise.allSettled([taken, inTime(closed)])
    isReturned = true
    return { locked, answer }
  }

  /** Moves locked accounts to queues of their own and sends the others again. */
  private async narrow(items: readonly Item[]): Promise<void> {
    const accounts = [...new Set(items.map(accountOf))]
    const free = await inTime(findUnlocked(this.options.sql, accounts)).catch(() => undefined)
    if (!free) return this.giveUp(items, tooLate())
    const sent = await this.exchange(items.filter((item) => free.has(accountOf(item))))
    sent.answer()
    const blocked = new Set(sent.locked)
    for (const item of items) {
      const isLockedNow = blocked.has(item) || !free.has(accountOf(item))
      if (isLockedNow) this.lockedAccounts.push(accountOf(item), item)
    }
  }

  private async runAlone(items: readonly Item[]): Promise<QueueRun<Item>> {
    const { overdue = [], inTime = [] } = Object.groupBy(items, (item) =>
      isOverdue(item) ? 'overdue' : 'inTime',
    )
    this.giveUp(overdue, tooLate())
    const { locked, answer } = await this.exchange(inTime)
    answer()
    // A hold is retried here until its timeout, a settlement elsewhere until it is committed.
    const { holds = [], settlements = [] } = Object.groupBy(locked, (item) =>
      'hold' in item ? 'holds' : 'settlements',
    )
    this.giveUp(settlements, tooLate())
    return { remaining: holds, stays: locked.length > 0 || inTime.length === 0 }
  }

  /** Refuses holds and hands settlements over for retries. */
  private giveUp(items: readonly Item[], error: unknown): void {
    for (const item of items) {
      if ('hold' in item) {
        this.waitingHolds -= 1
        item.reject(error)
      } else item.resolve(this.options.retry(item.settlement))
    }
  }
}

function accountOf(item: Item): string {
  return 'hold' in item ? item.hold.account_id : (item.settlement.account_id ?? '')
}

function isOverdue(item: Item): boolean {
  return 'hold' in item && performance.now() - item.sinceMs >= HOLD_TIMEOUT_MS
}

function tooLate(): GatewayError {
  return new GatewayError('unavailable', { retryAfterSeconds: 2 })
}

function send(
  { sql, isUnavailable, databaseNow }: Pick<Options, 'sql' | 'isUnavailable' | 'databaseNow'>,
  settlements: readonly SettleRow[],
  holds: readonly HoldRow[],
) {
  const nowMs = databaseNow()?.getTime()
  const deadline = nowMs === undefined ? undefined : new Date(nowMs + HOLD_DEADLINE_MS)
  if (settlements.length === 0) {
    return { closed: NONE_CLOSED, taken: takeHolds(sql, holds, deadline) }
  }
  if (holds.length === 0) return { closed: closeHolds(sql, settlements), taken: NONE_TAKEN }
  const moved = move(sql, settlements, holds, deadline)
  return {
    closed: moved.then((verdicts) => verdicts.closed),
    // A settlement that the database rejects must not fail the holds of others.
    taken: moved.then(
      (verdicts) => verdicts.taken,
      (error: unknown) => {
        if (isUnavailable(error)) throw error
        return takeHolds(sql, holds, deadline)
      },
    ),
  }
}

/** Stops waiting after the timeout; the statement itself continues in the database. */
function inTime<T>(work: Promise<T>): Promise<T> {
  return withinTime(work, HOLD_TIMEOUT_MS, tooLate)
}
