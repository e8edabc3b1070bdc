/**
 * The way of calls' money into the database: what has ended and what begins at the same moment
 * shares one statement, its locks and its commit. A settlement that does not get through here goes
 * on to `settlements`, which repeats it until it is in; a hold is refused instead.
 */
import type { Sql } from 'postgres'
import { GatewayError } from '../errors.ts'
import { createBatcher, QueueFull } from '../lib/batcher.ts'
import { closeHolds, move, takeHolds } from './move-store.ts'
import type { HoldRow, HoldVerdict, SettleRow, SettleVerdict } from './store.ts'

type Closed = ReadonlyMap<string, SettleVerdict>
type Taken = ReadonlyMap<string, HoldVerdict>
const NONE_CLOSED: Promise<Closed> = Promise.resolve(new Map())
const NONE_TAKEN: Promise<Taken> = Promise.resolve(new Map())

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

type Item =
  | { readonly begun: HoldRow; readonly answer: (verdict: Promise<HoldVerdict>) => void }
  | { readonly ended: SettleRow; readonly answer: (verdict: Promise<SettleVerdict>) => void }

export function createMoves(options: {
  readonly sql: Sql
  readonly isUnavailable: (error: unknown) => boolean
  /** Takes over a settlement whose statement failed. */
  readonly repeat: (row: SettleRow) => Promise<SettleVerdict>
  readonly holdQueueMax: number
  readonly settleQueueMax: number
}): Moves {
  const { sql, repeat, holdQueueMax, settleQueueMax } = options
  let waitingHolds = 0
  const queueLimit = holdQueueMax + settleQueueMax
  const batcher = createBatcher<Item, true>({ run, batchLimit: BATCH_LIMIT, queueLimit })

  async function run(items: readonly Item[]): Promise<true[]> {
    const ended = items.flatMap((item) => ('ended' in item ? [item.ended] : []))
    const begun = items.flatMap((item) => ('begun' in item ? [item.begun] : []))
    const { closed, taken } = send(ended, begun)
    const inTime = withinTime(taken)
    for (const item of items) {
      if ('begun' in item) {
        item.answer(inTime.then((verdicts) => verdicts.get(item.begun.id) ?? 'no_account'))
      } else {
        const read = (verdicts: Closed) => verdicts.get(item.ended.hold_id) ?? 'unknown'
        item.answer(closed.then(read, () => repeat(item.ended)))
      }
    }
    await Promise.allSettled([inTime, withinTime(closed)])
    return items.map(() => true)
  }

  function send(ended: readonly SettleRow[], begun: readonly HoldRow[]) {
    if (ended.length === 0) return { closed: NONE_CLOSED, taken: takeHolds(sql, begun) }
    if (begun.length === 0) return { closed: closeHolds(sql, ended), taken: NONE_TAKEN }
    const moved = move(sql, ended, begun)
    return {
      closed: moved.then((verdicts) => verdicts.closed),
      // A settlement that the database refuses must not take the others' holds with it.
      taken: moved.then(
        (verdicts) => verdicts.taken,
        (error: unknown) => {
          if (options.isUnavailable(error)) throw error
          return takeHolds(sql, begun)
        },
      ),
    }
  }

  return {
    take(begun) {
      if (waitingHolds >= holdQueueMax) return Promise.reject(new QueueFull('queue is full'))
      waitingHolds += 1
      return new Promise<HoldVerdict>((answer, refuse) => {
        batcher.add({ begun, answer }).catch(refuse)
      }).finally(() => {
        waitingHolds -= 1
      })
    },
    close(ended) {
      return new Promise((answer, refuse) => {
        batcher.add({ ended, answer }).catch(refuse)
      })
    },
    flushed: () => batcher.flushed(),
    size: () => batcher.size(),
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
