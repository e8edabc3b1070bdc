/**
 * The ledger's public face: the only place where a hold comes from and where it ends. Every
 * promise about money that the gateway makes is kept here and in the SQL functions below it.
 */

import type { Sql } from 'postgres'
import { GatewayError } from '../lib/errors.ts'
import { holdIdOf } from '../lib/ids.ts'
import { QueueFull } from '../lib/queues/batcher.ts'
import { type Checkpoint, createCheckpoints } from './holds/checkpoints.ts'
import { createCorrections } from './holds/corrections.ts'
import { createEndings, type LedgerSurprise } from './holds/endings.ts'
import { admitHold, type Hold, retireHold } from './holds/hold.ts'
import { startStrays } from './holds/strays.ts'
import type { Continuity } from './leases/continuity.ts'
import type { DatabaseClock } from './leases/lease-clock.ts'
import { createMoves } from './posting/moves.ts'
import { toHoldRow } from './posting/rows.ts'
import { createSettlements, type SettlementLog } from './posting/settlements.ts'
import type { HoldRequest, Settlement } from './requests.ts'
import {
  type BalanceRow,
  findAnswer,
  type HoldVerdict,
  readBalance,
  type SettleVerdict,
} from './store.ts'

const HOLD_QUEUE_MAX = 20_000
const SETTLE_QUEUE_MAX = 200_000

/** A hold, or why there is none. */
export type HoldResult =
  | { readonly hold: Hold }
  | { readonly refused: Exclude<HoldVerdict, 'held' | 'already' | 'late'> }

export interface Ledger {
  /** Freezes money, durably. Throws `unavailable` (503) when the database does not answer. */
  hold(request: HoldRequest): Promise<HoldResult>
  /**
   * Closes a hold once. Resolves when the charge is committed; a database that is away delays
   * it, never loses it. Resolves to `corrected` when the sweeper had closed it as lost and the
   * difference has been posted, to `already` when it had been closed before in any other way.
   */
  settle(hold: Hold, settlement: Settlement): Promise<SettleVerdict>
  /** From now on, each second's state of this call is noted for the case that we die. */
  watch(hold: Hold, read: () => Checkpoint | undefined): void
  balance(accountId: string): Promise<BalanceRow | undefined>
  findAnswer: (accountId: string, key: string) => ReturnType<typeof findAnswer>
  /** Resolves when every settlement queued so far is committed: "read your own writes". */
  flushed(): Promise<void>
  pending(): number
  stop(): Promise<void>
}

interface LedgerOptions {
  readonly sql: Sql
  readonly ownerId: string
  readonly isUnavailable: (error: unknown) => boolean
  readonly log: SettlementLog
  /** Calls that may wait for their hold; beyond it they are told to come back. */
  readonly holdQueueMax?: number
  /** Settlements kept while the database is away. */
  readonly settleQueueMax?: number
  /** Between two searches for holds that no call of this process has. */
  readonly straysMs?: number
  /** Gives each batch of holds its deadline. */
  readonly clock?: DatabaseClock
  /** Told of holds that the database acknowledged and does not know any more. */
  readonly continuity?: Continuity
  readonly onSurprise?: LedgerSurprise
}

export function createLedger(options: LedgerOptions): Ledger {
  const { sql, ownerId } = options
  const settleQueueMax = options.settleQueueMax ?? SETTLE_QUEUE_MAX
  const settlements = createSettlements({ ...options, settleQueueMax })
  const moves = createMoves({
    ...options,
    repeat: settlements.add,
    databaseNow: () => options.clock?.now(),
    holdQueueMax: options.holdQueueMax ?? HOLD_QUEUE_MAX,
    settleQueueMax,
  })
  const corrections = createCorrections(options)
  const endings = createEndings({ ...options, moves, settlements, corrections })
  const checkpoints = createCheckpoints(options)
  const strays = startStrays({ ...options, isOwn: endings.isOwn, release: settlements.add })

  async function take(id: string, request: HoldRequest): Promise<HoldVerdict> {
    try {
      return await moves.take(toHoldRow(id, request, { ownerId, taskId: null }))
    } catch (error) {
      if (error instanceof QueueFull) endings.disown(id)
      else endings.abandon(id, request)
      const known = error instanceof GatewayError || error instanceof QueueFull
      if (!known && !options.isUnavailable(error)) throw error
      throw new GatewayError('unavailable', { retryAfterSeconds: 2, cause: error })
    }
  }

  async function hold(request: HoldRequest): Promise<HoldResult> {
    const id = holdIdOf(request.requestId)
    endings.own(id)
    const verdict = await take(id, request)
    if (verdict === 'late' || verdict === 'already') {
      endings.note('hold', verdict, request, request.amountNanos)
    }
    if (verdict === 'held' || verdict === 'already') {
      const { requestId, accountId, amountNanos } = request
      return { hold: admitHold({ id, requestId, accountId, amountNanos }) }
    }
    endings.disown(id)
    if (verdict !== 'late') return { refused: verdict }
    throw new GatewayError('unavailable', { retryAfterSeconds: 2 })
  }

  async function flushed(): Promise<void> {
    await moves.flushed()
    await settlements.flushed()
    await corrections.flushed()
  }

  return {
    hold,
    settle(closing, settlement) {
      retireHold(closing)
      checkpoints.forget(closing.id)
      return endings.settle(closing, settlement)
    },
    watch: (watched, read) => checkpoints.watch(watched.id, read),
    balance: (accountId) => readBalance(sql, accountId),
    findAnswer: (accountId, key) => findAnswer(sql, accountId, key),
    flushed,
    pending: () => moves.size() + settlements.size() + corrections.size(),
    async stop() {
      checkpoints.stop()
      strays.stop()
      await flushed()
    },
  }
}
