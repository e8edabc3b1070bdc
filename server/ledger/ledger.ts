/**
 * The ledger's public face: the only place where a hold comes from and where it ends. Every
 * promise about money that the gateway makes is kept here and in the SQL functions below it.
 */
import type { Sql } from 'postgres'
import { GatewayError } from '../errors.ts'
import { QueueFull } from '../lib/batcher.ts'
import { holdIdOf } from '../lib/ids.ts'
import type { Nanos } from '../lib/money.ts'
import { type Checkpoint, createCheckpoints } from './checkpoints.ts'
import { admitHold, type Hold, retireHold } from './hold.ts'
import { createMoves } from './moves.ts'
import { toHoldRow, toSettleRow } from './rows.ts'
import { createSettlements, type SettlementLog } from './settlements.ts'
import {
  type BalanceRow,
  findAnswer,
  type HoldVerdict,
  readBalance,
  type SettleRow,
  type SettleVerdict,
  type StoredAnswer,
} from './store.ts'

const HOLD_QUEUE_MAX = 20_000
const SETTLE_QUEUE_MAX = 200_000
/** After this no statement of ours can still be running on the server. */
const ABANDONED_AFTER_MS = 10_000

export interface HoldRequest {
  readonly requestId: string
  readonly accountId: string
  readonly keyId: string
  readonly endpoint: string
  readonly model: string
  readonly priceVersion: bigint | null
  readonly amountNanos: Nanos
  readonly estimate: unknown
  readonly spendLimitNanos: Nanos | null
  readonly idempotency: {
    readonly key: string
    readonly route: string
    readonly fingerprint: Buffer
  } | null
}

/** A hold, or why there is none. */
export type HoldResult =
  | { readonly hold: Hold }
  | { readonly refused: Exclude<HoldVerdict, 'held' | 'already'> }

export interface Settlement {
  /** null releases the whole hold. */
  readonly chargeNanos: Nanos | null
  readonly status: 'succeeded' | 'failed' | 'cancelled'
  readonly basis: string
  readonly review?: boolean
  readonly lines: unknown
  readonly attempts: unknown
  /** What the upstream takes for it; null or absent when nobody knows. */
  readonly cost?: { readonly nanos: Nanos; readonly version: bigint } | null
  readonly error?: string
  readonly answer?: StoredAnswer
}

export interface Ledger {
  /** Freezes money, durably. Throws `unavailable` (503) when the database does not answer. */
  hold(request: HoldRequest): Promise<HoldResult>
  /**
   * Closes a hold once. Resolves when the charge is committed; a database that is away delays
   * it, never loses it. Resolves to `already` when somebody else (the sweeper) closed it first.
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

export function createLedger(options: {
  readonly sql: Sql
  readonly ownerId: string
  readonly isUnavailable: (error: unknown) => boolean
  readonly log: SettlementLog
  /** Calls that may wait for their hold; beyond it they are told to come back. */
  readonly holdQueueMax?: number
  /** Settlements kept while the database is away. */
  readonly settleQueueMax?: number
}): Ledger {
  const { sql, ownerId, log } = options
  const settleQueueMax = options.settleQueueMax ?? SETTLE_QUEUE_MAX
  const settlements = createSettlements({ ...options, settleQueueMax })
  const moves = createMoves({
    ...options,
    repeat: settlements.add,
    holdQueueMax: options.holdQueueMax ?? HOLD_QUEUE_MAX,
    settleQueueMax,
  })
  const checkpoints = createCheckpoints(options)
  /** A hold of unknown outcome may have been committed: it is closed once that is certain. */
  function abandon(holdId: string, accountId: string): void {
    const timer = setTimeout(() => {
      settlements.add(releaseRow(holdId, accountId)).catch((error: unknown) => {
        log.error({ hold_id: holdId, error }, 'abandoned hold is left to the sweeper')
      })
    }, ABANDONED_AFTER_MS)
    timer.unref()
  }

  async function hold(request: HoldRequest): Promise<HoldResult> {
    const id = holdIdOf(request.requestId)
    try {
      const verdict = await moves.take(toHoldRow(id, request, { ownerId, taskId: null }))
      if (verdict !== 'held' && verdict !== 'already') return { refused: verdict }
      const { requestId, accountId, amountNanos } = request
      return { hold: admitHold({ id, requestId, accountId, amountNanos }) }
    } catch (error) {
      if (!(error instanceof QueueFull)) abandon(id, request.accountId)
      const known = error instanceof GatewayError || error instanceof QueueFull
      if (!known && !options.isUnavailable(error)) throw error
      throw new GatewayError('unavailable', { retryAfterSeconds: 2, cause: error })
    }
  }

  async function flushed(): Promise<void> {
    await moves.flushed()
    await settlements.flushed()
  }

  return {
    hold,
    settle(closing, settlement) {
      retireHold(closing)
      checkpoints.forget(closing.id)
      return moves.close(toSettleRow(closing.id, settlement, closing.accountId))
    },
    watch: (watched, read) => checkpoints.watch(watched.id, read),
    balance: (accountId) => readBalance(sql, accountId),
    findAnswer: (accountId, key) => findAnswer(sql, accountId, key),
    flushed,
    pending: () => moves.size() + settlements.size(),
    async stop() {
      checkpoints.stop()
      await flushed()
    },
  }
}

function releaseRow(holdId: string, accountId: string): SettleRow {
  return {
    hold_id: holdId,
    account_id: accountId,
    charge: null,
    status: 'failed',
    basis: 'none',
    review: false,
    lines: [],
    attempts: [],
    ...{ cost: null, cost_version: null },
    error: 'the service was temporarily unavailable',
    task_id: null,
    answer: null,
  }
}
