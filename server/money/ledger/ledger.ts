/**
 * The ledger's public interface: the only place where holds are placed and settled. All guarantees
 * about money are enforced here and in the SQL functions it calls.
 */

import type { Sql } from 'postgres'
import { GatewayError } from '../../base/lib/errors.ts'
import { holdIdOf } from '../../base/lib/ids.ts'
import { QueueFull } from '../../base/lib/queues/batcher.ts'
import { UnderWay } from '../../base/lib/queues/under-way.ts'
import { withinTime } from '../../base/lib/queues/within-time.ts'
import { createRates, type Rates } from './budgets/rates.ts'
import { type Checkpoint, createCheckpoints } from './holds/checkpoints.ts'
import { createSessionClaims, type SessionClaim } from './holds/container-sessions.ts'
import { createCorrections } from './holds/corrections.ts'
import { createEndings, type Endings, type LedgerSurprise } from './holds/endings.ts'
import { admitHold, type Hold, retireHold } from './holds/hold.ts'
import { startLeakCheck } from './holds/leaked-holds.ts'
import type { Continuity } from './leases/continuity.ts'
import type { DatabaseClock } from './leases/lease-clock.ts'
import { hasLease } from './leases/owner-store.ts'
import { openJournal } from './posting/journal.ts'
import { createMoves, type Moves } from './posting/moves.ts'
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
/** A clock that is this much further ahead was set forward. */
const SET_FORWARD_MS = 1_000
/** Time for a sample of the clock. */
const SAMPLE_MS = 2_000

/** A hold, or the reason for its refusal. */
export type HoldResult =
  | { readonly hold: Hold }
  | { readonly refused: Exclude<HoldVerdict, 'held' | 'already' | 'late'> }

/** The settlement of a call with containers. */
export interface SessionSettlement {
  /** Gets the ids of the containers whose session another call pays. */
  readonly build: (paid: ReadonlySet<string>) => Settlement
  /** Applies if this process dies before the sessions are claimed. */
  readonly unclaimed: Settlement
}

/** Runs an attempt, and may run it again if it rejects. */
export type Repeat = <T>(attempt: () => Promise<T>) => Promise<T>

const ONCE: Repeat = (attempt) => attempt()

export interface Ledger {
  /**
   * Places a hold durably. `repeat` may run its statement several times: a hold whose commit was
   * lost on its way back is found by its id. Rejects with `unavailable` (503) if the database does
   * not respond.
   */
  hold(request: HoldRequest, repeat?: Repeat): Promise<HoldResult>
  /**
   * Settles a hold once. Resolves when the charge is committed; a database outage delays it but
   * never loses it. Resolves to `corrected` if the sweeper had closed the hold as lost and the
   * difference was posted, or to `already` if it had been closed in any other way.
   */
  settle(hold: Hold, settlement: Settlement): Promise<SettleVerdict>
  /** Settles a hold, as `settle` does, once the sessions of its call's containers are claimed. */
  settleWithSessions(hold: Hold, claim: SessionClaim, by: SessionSettlement): Promise<SettleVerdict>
  /**
   * Resolves when the settlement under way is committed or on the local disk, from where the next
   * process posts it if this one dies.
   */
  preserve(hold: Hold): Promise<void>
  /** Settles the calls that dead processes left in their journals. */
  settleJournals(): Promise<void>
  /** Checkpoints the state of this call every second from now on, in case the process dies. */
  watch(hold: Hold, read: () => Checkpoint | undefined): void
  /** Limits of requests that take no hold. */
  readonly rates: Rates
  balance(accountId: string): Promise<BalanceRow | undefined>
  findAnswer: (accountId: string, key: string) => ReturnType<typeof findAnswer>
  /**
   * Resolves when every settlement so far, of the account or of all, is committed ("read your own
   * writes"): during an outage, or behind a lock of the account, after that. Never rejects.
   */
  flushed(accountId?: string): Promise<void>
  pending(): number
  /**
   * Returns false if the database returned to an earlier state, as of now. Rejects if it does not
   * respond.
   */
  isContinued(): Promise<boolean>
  /**
   * Journals that were set aside, because their holds belong to another database or are archived.
   */
  unknownJournals(): number
  stop(): Promise<void>
}

interface LedgerOptions {
  readonly sql: Sql
  readonly ownerId: string
  readonly isUnavailable: (error: unknown) => boolean
  readonly log: SettlementLog
  /** Maximum number of calls waiting for a hold; further ones are rejected with `unavailable`. */
  readonly holdQueueMax?: number
  /** Settlements kept in memory during a database outage. */
  readonly settleQueueMax?: number
  /** Time between two checks for leaked holds. */
  readonly leakCheckMs?: number
  /** Time after which a hold of unknown outcome is released. */
  readonly releaseAfterMs?: number
  /** Sets the deadline of each batch of holds. */
  readonly clock?: DatabaseClock
  /**
   * Renews the lease, which samples the clock anew, for holds that came late because the database's
   * was set forward, and notices a database that returned to an earlier state.
   */
  readonly renewLease?: () => Promise<void>
  /** Notified of holds that the database acknowledged and no longer has. */
  readonly continuity?: Continuity
  readonly onSurprise?: LedgerSurprise
  /** The folder of the journals of settlements; without it there are none. */
  readonly journalFolder?: string
}

export function createLedger(options: LedgerOptions): Ledger {
  const { sql, ownerId, journalFolder: folder, log } = options
  const settleQueueMax = options.settleQueueMax ?? SETTLE_QUEUE_MAX
  const settlements = createSettlements({ ...options, settleQueueMax })
  const moves = createMoves({
    ...options,
    retry: settlements.add,
    databaseNow: () => options.clock?.now(),
    holdQueueMax: options.holdQueueMax ?? HOLD_QUEUE_MAX,
    settleQueueMax,
  })
  const corrections = createCorrections(options)
  const claims = createSessionClaims(options)
  const journal = folder === undefined ? undefined : openJournal({ folder, ownerId, log })
  const endings = createEndings({ ...options, moves, settlements, corrections, journal })
  const checkpoints = createCheckpoints(options)
  const { isTracked } = endings
  const isContinued = () => seeContinuity(options)
  const leakCheck = startLeakCheck({ ...options, isTracked, isContinued, release: settlements.add })

  const settling = new UnderWay()

  /** Also waits for releases, and for what is left to the periodic check. */
  async function drained(): Promise<void> {
    await claims.flushed()
    await moves.flushed()
    await settlements.flushed()
    await corrections.flushed()
  }

  function retire(closing: Hold): void {
    retireHold(closing)
    checkpoints.forget(closing.id)
  }

  return {
    hold: (request, repeat = ONCE) => takeHold(request, repeat, moves, endings, options),
    settle(closing, settlement) {
      retire(closing)
      return settling.add(closing.accountId, endings.settle(closing, settlement))
    },
    settleWithSessions(closing, claim, { build, unclaimed }) {
      retire(closing)
      endings.expect(closing, unclaimed)
      const settled = claims.add(claim, (paid) => endings.settle(closing, build(paid)))
      return settling.add(closing.accountId, settled)
    },
    preserve: endings.preserve,
    settleJournals: async () =>
      journal?.settleOthers({
        isAlive: (owner) => hasLease(sql, owner),
        settle: endings.settleRow,
      }),
    rates: createRates(options),
    watch: checkpoints.watch,
    balance: (accountId) => readBalance(sql, accountId),
    findAnswer: (accountId, key) => findAnswer(sql, accountId, key),
    flushed: (accountId) => settling.ended(accountId),
    isContinued,
    unknownJournals: () => journal?.countUnknown() ?? 0,
    pending: () => claims.size() + moves.size() + settlements.size() + corrections.size(),
    async stop() {
      checkpoints.stop()
      leakCheck.stop()
      await drained()
      await journal?.close()
    },
  }
}

async function seeContinuity({ renewLease, continuity }: LedgerOptions): Promise<boolean> {
  await renewLease?.()
  return continuity?.broken() === undefined
}

async function takeHold(
  request: HoldRequest,
  repeat: Repeat,
  moves: Moves,
  endings: Endings,
  options: LedgerOptions,
): Promise<HoldResult> {
  const { ownerId, clock } = options
  const id = holdIdOf(request.requestId)
  endings.track(id)
  let verdict: Exclude<HoldVerdict, 'late'>
  /** The amount may be held: only `late` proves that it is not. */
  let isSent = false
  const send = () =>
    moves.take(toHoldRow(id, request, { ownerId, taskId: null })).catch((error: unknown) => {
      isSent ||= !(error instanceof QueueFull)
      throw error
    })
  const take = async () => {
    const aheadMs = clock?.aheadMs()
    let taken = await send()
    if (taken === 'late' && (await wasSetForward(aheadMs, options))) taken = await send()
    if (taken !== 'late') {
      isSent = true
      return taken
    }
    // Nothing was held, so a call that can wait may try again.
    endings.report('hold', taken, request, request.amountNanos)
    throw new GatewayError('unavailable', { retryAfterSeconds: 2 })
  }
  try {
    verdict = await repeat(take)
  } catch (error) {
    if (isSent) endings.releaseLater(id, request)
    else endings.untrack(id)
    refuseHold(error, options)
  }
  if (verdict === 'already') {
    endings.report('hold', verdict, request, request.amountNanos)
  }
  if (verdict === 'held' || verdict === 'already') {
    const { requestId, accountId, amountNanos, limits } = request
    return { hold: admitHold({ id, requestId, accountId, amountNanos, limits }) }
  }
  endings.untrack(id)
  return { refused: verdict }
}

/**
 * Returns true if a hold came late because the database's clock is ahead of where it was at its
 * start. Nobody asks a database that is slow twice.
 */
async function wasSetForward(
  aheadMs: number | undefined,
  { clock, renewLease }: LedgerOptions,
): Promise<boolean> {
  if (clock === undefined || aheadMs === undefined) return false
  const isAhead = () => clock.aheadMs() - aheadMs >= SET_FORWARD_MS
  if (isAhead() || !renewLease) return isAhead()
  await withinTime(renewLease(), SAMPLE_MS, () => new QueueFull('no sample')).catch(() => undefined)
  return isAhead()
}

/** Throws the error of a hold whose statement failed. */
function refuseHold(error: unknown, { isUnavailable }: LedgerOptions): never {
  const known = error instanceof GatewayError || error instanceof QueueFull
  if (!known && !isUnavailable(error)) throw error
  throw new GatewayError('unavailable', { retryAfterSeconds: 2, cause: error })
}
