/**
 * The way of calls' money into the database: what has ended and what begins at the same moment
 * shares one statement, its locks and its commit. A settlement that does not get through here goes
 * on to `settlements`, which repeats it until it is in; a hold is refused instead.
 */
import type { Sql } from 'postgres'
import { GatewayError } from '../errors.ts'
import { createBatches, QueueFull } from '../lib/batcher.ts'
import { closeHolds, move, takeHolds, type Verdicts } from './move-store.ts'
import type { HoldRow, HoldVerdict, SettleRow, SettleVerdict } from './store.ts'

const NONE_CLOSED: Promise<Verdicts<SettleVerdict>> = Promise.resolve(new Map())
const NONE_TAKEN: Promise<Verdicts<HoldVerdict>> = Promise.resolve(new Map())

/** Holds and settlements together. */
const BATCH_LIMIT = 1_000
/** A caller is told within this time that the database is away. */
const HOLD_TIMEOUT_MS = 2_000

export interface Moves {
  /** Rejects with `QueueFull`, with `unavailable` after two seconds, or as the database refuses. */
  take(row: HoldRow): Promise<HoldVerdict>
  /** Resolves when the settlement is committed. */
  close(row: SettleRow): Promise<SettleVerdict>
  /** Resolves when what was queued before is through, or handed on to be repeated. */
  flushed(): Promise<void>
  size(): number
}

interface Begun {
  readonly begun: HoldRow
  readonly resolve: (verdict: HoldVerdict) => void
  readonly reject: (error: unknown) => void
}

interface Ended {
  readonly ended: SettleRow
  readonly resolve: (verdict: SettleVerdict | Promise<SettleVerdict>) => void
}

interface Options {
  readonly sql: Sql
  readonly isUnavailable: (error: unknown) => boolean
  /** Takes over a settlement whose statement failed. */
  readonly repeat: (row: SettleRow) => Promise<SettleVerdict>
  readonly holdQueueMax: number
  readonly settleQueueMax: number
}

export function createMoves(options: Options): Moves {
  const { repeat, holdQueueMax, settleQueueMax } = options
  let waitingHolds = 0
  const queueLimit = holdQueueMax + settleQueueMax
  const batches = createBatches<Begun | Ended>({ run, batchLimit: BATCH_LIMIT, queueLimit })

  async function run(items: readonly (Begun | Ended)[]): Promise<void> {
    const ending = items.filter((item) => 'ended' in item)
    const beginning = items.filter((item) => 'begun' in item)
    const sent = send(
      options,
      ending.map((item) => item.ended),
      beginning.map((item) => item.begun),
    )
    const taken = withinTime(sent.taken).then(
      (verdicts) => {
        for (const { begun, resolve } of beginning) resolve(verdicts.get(begun.id) ?? 'no_account')
      },
      (error: unknown) => {
        for (const { reject } of beginning) reject(error)
      },
    )
    const closed = sent.closed.then(
      (verdicts) => {
        for (const { ended, resolve } of ending) resolve(verdicts.get(ended.hold_id) ?? 'unknown')
      },
      () => {
        for (const { ended, resolve } of ending) resolve(repeat(ended))
      },
    )
    await Promise.allSettled([taken, withinTime(closed)])
    waitingHolds -= beginning.length
  }

  return {
    take: (begun) =>
      new Promise((resolve, reject) => {
        if (waitingHolds >= holdQueueMax) throw new QueueFull('queue is full')
        batches.push({ begun, resolve, reject })
        waitingHolds += 1
      }),
    close: (ended) =>
      new Promise((resolve) => {
        batches.push({ ended, resolve })
      }),
    flushed: batches.flushed,
    size: batches.size,
  }
}

function send(
  { sql, isUnavailable }: Pick<Options, 'sql' | 'isUnavailable'>,
  ended: readonly SettleRow[],
  begun: readonly HoldRow[],
) {
  if (ended.length === 0) return { closed: NONE_CLOSED, taken: takeHolds(sql, begun) }
  if (begun.length === 0) return { closed: closeHolds(sql, ended), taken: NONE_TAKEN }
  const moved = move(sql, ended, begun)
  return {
    closed: moved.then((verdicts) => verdicts.closed),
    // A settlement that the database refuses must not take the others' holds with it.
    taken: moved.then(
      (verdicts) => verdicts.taken,
      (error: unknown) => {
        if (isUnavailable(error)) throw error
        return takeHolds(sql, begun)
      },
    ),
  }
}

/** The statement goes on in the database; only the caller stops waiting for it. */
function withinTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new GatewayError('unavailable', { retryAfterSeconds: 2 }))
    }, HOLD_TIMEOUT_MS)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
